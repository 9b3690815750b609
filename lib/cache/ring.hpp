// A rolling-buffer cache: position p lives in slot p mod capacity.
// Source: Jiang et al., "Mistral 7B" (arXiv:2310.06825), section 2.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mask/window.hpp"

namespace swa {

// Keys and values of one kv head of one local layer.
class RingCache {
 public:
  static constexpr Index kEmpty = -1;

  RingCache(Index capacity, Index head_dim)
      : head_dim_(head_dim),
        owners_(static_cast<std::size_t>(capacity), kEmpty),
        k_(static_cast<std::size_t>(capacity * head_dim)),
        v_(k_.size()) {}

  Index capacity() const { return static_cast<Index>(owners_.size()); }
  Index slot_of(Index position) const { return position % capacity(); }
  // The position that each slot holds; kEmpty where none was written yet.
  std::span<const Index> owners() const { return owners_; }

  // Overwrites whatever the slot held. k and v: head_dim elements each.
  void write(Index position, const double* k, const double* v);

  const double* k(Index slot) const { return k_.data() + slot * head_dim_; }
  const double* v(Index slot) const { return v_.data() + slot * head_dim_; }

 private:
  Index head_dim_;
  std::vector<Index> owners_;
  std::vector<double> k_, v_;
};

}  // namespace swa
