// Blocks of query rows, shared out over the threads. Private to this room.
#pragma once

#include <algorithm>
#include <vector>

#include "parallel.hpp"
#include "problem/problem.hpp"

namespace swa {

// Elements as a double, which no size overflows.
inline double size_of(const Shape& s) {
  return static_cast<double>(s.batch) * static_cast<double>(s.heads) *
         static_cast<double>(s.tokens) * static_cast<double>(s.dim);
}

// Calls body(sequence, query head, rows) for each block of at most `rows_per_block` query rows of
// each head of each sequence, on all cores. Rows are counted from the sequence's first.
template <class Body>
void for_each_row_block(const Problem& problem, Index rows_per_block, Body body) {
  const std::vector<Sequence> all = sequences(problem);
  std::vector<Index> first_block{0};  // of each sequence, over all its heads; then of all
  for (const Sequence& s : all) {
    first_block.push_back(first_block.back() +
                          problem.heads_q * ceil_div(s.mask.n_q, rows_per_block));
  }
  parallel_for(first_block.back(), [&](Index i) {
    const auto next = std::upper_bound(first_block.begin(), first_block.end(), i);
    const auto b = static_cast<std::size_t>(next - first_block.begin() - 1);
    const Sequence& sequence = all[b];
    const Index blocks = ceil_div(sequence.mask.n_q, rows_per_block);
    const Index head = (i - first_block[b]) / blocks;
    const Index begin = (i - first_block[b]) % blocks * rows_per_block;
    body(sequence, head, KeyRange{begin, smaller(begin + rows_per_block, sequence.mask.n_q)});
  });
}

}  // namespace swa
