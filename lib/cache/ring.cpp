#include "cache/ring.hpp"

#include <algorithm>

namespace swa {

void RingCache::write(Index position, const double* k, const double* v) {
  const Index slot = slot_of(position);
  owners_[static_cast<std::size_t>(slot)] = position;
  std::copy_n(k, head_dim_, k_.data() + slot * head_dim_);
  std::copy_n(v, head_dim_, v_.data() + slot * head_dim_);
}

}  // namespace swa
