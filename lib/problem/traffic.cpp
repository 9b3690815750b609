#include "problem/traffic.hpp"

namespace swa {

Traffic least_traffic(const Problem& p) {
  const double element = bytes(p.dtype), lse = p.dtype == Dtype::fp64 ? 8 : 4;
  const auto dim = static_cast<double>(p.head_dim), dim_v = static_cast<double>(p.value_dim());
  double rows = 0, keys = 0;  // of one head, over all sequences
  for (const SharedMask& s : shared_masks(p)) {
    const auto times = static_cast<double>(s.sequences);
    rows += times * static_cast<double>(s.mask.n_q);
    keys += times * static_cast<double>(keys_seen(s.mask).size());
  }
  rows *= static_cast<double>(p.heads_q);
  keys *= static_cast<double>(p.heads_kv);
  return {(rows * dim + keys * (dim + dim_v)) * element, rows * (dim_v * element + lse)};
}

}  // namespace swa
