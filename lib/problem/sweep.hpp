// Lists of values, made into decided problems.
#pragma once

#include <string>
#include <vector>

#include "problem/problem.hpp"

namespace swa {

// Every combination of the lists, with the rest as in `base`. An empty n_k means n_q, an empty
// heads_kv means heads_q.
struct Sweep {
  Problem base;
  std::vector<Index> n_q, n_k;
  std::vector<Window> windows;
  std::vector<Index> sinks, batch, heads_q, heads_kv, head_dim;
  std::vector<CacheLayout> caches;
  std::vector<Dtype> dtypes;
};

// Problems in the order batch, heads, head_dim, dtype, n_q, n_k, window, sinks, cache, the last
// fastest.
// Each is validated. Throws UsageError where they are more than 100,000.
std::vector<Problem> expand(const Sweep& sweep);

// Throws UsageError where so many problems with the lengths of this one are more than memory should
// hold: each has a copy of them.
void require_size_of_sweep(std::size_t problems, const Problem& one);

}  // namespace swa
