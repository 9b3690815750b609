// One decided attention problem, and the inputs that belong to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mask/window.hpp"
#include "tensor/dtype.hpp"
#include "tensor/tensor.hpp"

namespace swa {

// Everything that a kernel needs to know besides the data. All sizes are >= 1; heads_q is a
// multiple of heads_kv, and query head h reads kv head h / group.
struct Problem {
  Index batch = 1;
  Index heads_q = 1, heads_kv = 1;
  Index n_q = 1, n_k = 1;
  Index head_dim = 64;
  Window window;
  Index sinks = 0;              // tokens: the first keys, visible to all later rows
  bool sink_logits = false;     // one learned logit per query head in the denominator
  double softcap = 0;           // c > 0: scores become c tanh(score / c)
  std::optional<double> scale;  // of q.k; 1 / sqrt(head_dim) where not given
  Anchor anchor = Anchor::bottom_right;
  Dtype dtype = Dtype::fp32;
  std::uint64_t seed = 0;

  Index group() const { return heads_q / heads_kv; }
  double score_scale() const;
  Mask mask() const { return Mask::make(window, sinks, n_q, n_k, anchor); }
};

// Throws UsageError for what has no meaning: a size below 1, heads_q not a multiple of heads_kv,
// more sink tokens than keys.
void validate(const Problem& problem);

// The options of `swa verify` that recreate the problem, defaults left out, such as
// "--W 100 --nq 96 --nk 600".
std::string options(const Problem& problem);

// The mask's part of those options: "--W 100", "--left 8 --right 4", or nothing for no window.
std::string options(const Window& window);

// q [batch, heads_q, n_q, head_dim], k and v [batch, heads_kv, n_k, head_dim], drawn in that order
// from NumPy's default_rng(seed).standard_normal, then sink_logits [heads_q] where the problem has
// them. Values are rounded to the problem's dtype and held as doubles.
struct Inputs {
  Tensor<double> q, k, v;
  std::vector<double> sink_logits;  // empty where the problem has none
};
Inputs make_inputs(const Problem& problem);

// What a forward pass returns. A row that sees no key has output 0; its lse is -inf, or its sink
// logit where it has one.
struct Attention {
  Tensor<double> out;  // [batch, heads_q, n_q, head_dim]
  Tensor<double>
      lse;  // [batch, heads_q, n_q, 1], ln of the softmax denominator; empty: not returned
};

// Outputs of the problem's shapes, every element NaN: what a kernel never writes stays so.
Attention poisoned_outputs(const Problem& problem);

}  // namespace swa
