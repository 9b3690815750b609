// The keys of a problem as a cache holds them: what a kernel that reads a ring or pages is given.
// The oracle and all else that judges keep to the logical tensors.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "problem/problem.hpp"
#include "tensor/tensor.hpp"

namespace swa {

// In a block table: no page. No page number is as large, so that a kernel which reads it all the
// same reads outside of the pool.
inline constexpr std::int32_t kAbsentPage = std::numeric_limits<std::int32_t>::max();

// Pages of the pool that are nobody's.
inline constexpr Index kSparePages = 3;

// k or v of all sequences. Slots that hold no live key, one that some row of the call sees, hold
// the dead value: they may have been overwritten, freed or never written.
struct CachedKeys {
  // Of a ring [batch, heads_kv, capacity, dim]: key k of a sequence in slot k mod capacity.
  // Of pages [pages, heads_kv, page, dim]: key k in slot k mod page of page table[k / page].
  Tensor<double> slots;
  // Of pages alone: [batch, table_stride], table_stride = ceil(longest sequence / page). Pages of
  // all sequences lie in any order; kAbsentPage for those that hold no live key.
  std::vector<std::int32_t> table;
  Index table_stride = 0;
};

// Lays out k or v, of the shape key_shape(dim), where the problem's cache is no contiguous one. The
// order of the pages is drawn from the problem's seed: the tables of k and v are equal.
CachedKeys lay_out(const Problem& problem, const Tensor<double>& logical,
                   double dead = std::numeric_limits<double>::quiet_NaN());

// Bytes that k and v take so, table included, as a double; 0 where the cache is contiguous.
double cached_bytes(const Problem& problem);

// Slots of the smallest ring that holds what the rows of each sequence see, sink tokens aside: from
// the first key that one of them sees to the last. At least 1.
Index least_capacity(const Problem& problem);

// The part of validate() that concerns the cache.
void validate_cache(const Problem& problem);

}  // namespace swa
