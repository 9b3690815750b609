// The references: attention in double, with no tile and no online rescaling.
#pragma once

#include <limits>
#include <vector>

#include "problem/problem.hpp"
#include "tensor/tensor.hpp"

namespace swa {

// What the bound on the error of one row is made of.
struct RowFacts {
  Index keys = 0;          // that the row sees
  double score_bound = 0;  // scale |q| max |k|, at least |sink logit|: no |score| is larger
  double largest_v = 0;    // the largest |v| element of the keys it sees
  double denominator = 1;  // sum of exp(score - highest score), sink logit included; >= 1
  bool padding = false;    // past the end of its sequence: no output is expected there
};

// The exact result, and what a bound on the error of a kernel is made of.
struct Oracle : Attention {
  // Sum over the visible keys of weight |v|, like out, or up to 2^-12 of it more; >= |out|.
  Tensor<double> abs_output;
  std::vector<RowFacts> rows;  // [batch, heads_q, n_q]

  RowFacts& row_facts(Index b, Index h, Index row) { return rows[row_index(b, h, row)]; }
  const RowFacts& row_facts(Index b, Index h, Index row) const {
    return rows[row_index(b, h, row)];
  }

 private:
  std::size_t row_index(Index b, Index h, Index row) const {
    return static_cast<std::size_t>((b * out.shape.heads + h) * out.shape.tokens + row);
  }
};

// One row of it.
struct OracleRow {
  std::vector<double> out, abs_output;  // [head_dim_v]
  double lse = -std::numeric_limits<double>::infinity();
  RowFacts facts = {};
};

// Decides each pair by sees() and nothing else: O(n_k) time. `row` counts from the sequence's
// first.
OracleRow dense_oracle_row(const Problem& problem, const Inputs& inputs, const Sequence& sequence,
                           Index head, Index row);
// All rows, one by one: O(n_q n_k) time.
Oracle dense_oracle(const Problem& problem, const Inputs& inputs);

// Outputs of the problem's shapes: 0, lse -inf, and padding marked as such.
Oracle empty_oracle(const Problem& problem);

// The same for large problems: O(n W) time, O(n head_dim + block W) memory, on all cores. Only the
// keys between the first left bound and the last right bound of a block of rows are looked at;
// within them, and just outside, each pair is decided by sees(). Finite inputs only: a weight of 0
// is multiplied with the v of its block.
Oracle band_oracle(const Problem& problem, const Inputs& inputs);

// The dense oracle where its pairs are at most 2^26, else the band oracle.
Oracle oracle(const Problem& problem, const Inputs& inputs);

// The pairs that dense_oracle() decides, over all sequences and query heads, as a double.
double dense_oracle_pairs(const Problem& problem);

// The pairs whose scores band_oracle() computes for one head over all sequences, visible or not;
// the rows of its blocks, and no fewer keys than one of them looks at.
double band_oracle_pairs(const Problem& problem);
Index band_oracle_rows(const Problem& problem);
Index band_oracle_keys(const Problem& problem);

// Bytes that make_inputs() and oracle() hold at their peak, as a double.
double oracle_bytes(const Problem& problem);

}  // namespace swa
