// The references: attention in double, with no tile and no online rescaling.
#pragma once

#include "problem/problem.hpp"
#include "tensor/tensor.hpp"

namespace swa {

// What a forward pass returns. A row that sees no key has output 0; its lse is -inf, or its sink
// logit where it has one.
struct Attention {
  Tensor<double> out;  // [batch, heads_q, n_q, head_dim]
  Tensor<double> lse;  // [batch, heads_q, n_q, 1], ln of the softmax denominator
};

// The exact result, and what a bound on the error of a kernel is made of.
struct Oracle : Attention {
  // Sum over the visible keys of weight |v|, like out. Bounds |out|, and how far an error of the
  // weights can move it.
  Tensor<double> spread;
  // [batch, heads_q, n_q, 1]: the largest scale |q||k| of the row, at least its |sink logit|.
  // Bounds every score, and how far an error of q.k can move one.
  Tensor<double> magnitude;
};

// Decides each pair by sees() and nothing else, row by row: O(n_q n_k) time. Each row is computed
// alone, so the result does not depend on which other rows are asked for.
Oracle dense_oracle(const Problem& problem, const Inputs& inputs);

// Touches only keys that some row of a block sees: O(n W) time, O(n head_dim + block W) memory, on
// all cores. Finite inputs only: a weight of 0 is multiplied with the v of its block.
Oracle band_oracle(const Problem& problem, const Inputs& inputs);

// The dense oracle where its pairs are at most 2^26, else the band oracle.
Oracle oracle(const Problem& problem, const Inputs& inputs);

// Bytes that make_inputs() and oracle() hold at their peak, as a double.
double oracle_bytes(const Problem& problem);

}  // namespace swa
