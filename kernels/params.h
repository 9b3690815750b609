// What a kernel is launched with. Kernels see this, the rules of mask and tiles, and nothing else
// of the project.
#pragma once

#include "mask/window.hpp"

namespace swa {

// Elements from one batch entry, head and token to the next; the dim of a token has stride 1.
struct Strides {
  Index batch = 0, head = 0, token = 0;
};

// One forward call. Pointers are on the device; sizes and strides count elements. Entries are the
// sequences where padded, one where packed; tokens are those of an entry.
struct ForwardParams {
  const void* q = nullptr;            // [entries, heads_q, tokens_q, head_dim]
  const void* k = nullptr;            // [entries, heads_kv, tokens_k, head_dim]
  const void* v = nullptr;            // [entries, heads_kv, tokens_k, head_dim_v]
  const void* sink_logits = nullptr;  // [heads_q], double for the oracle, else float; null: none
  void* out = nullptr;                // [entries, heads_q, tokens_q, head_dim_v]
  void* lse = nullptr;  // [entries, heads_q, tokens_q], ln, type as sink_logits; null: not wanted
  Strides q_strides, k_strides, v_strides, out_strides, lse_strides;

  Index batch = 0;                  // sequences
  Index heads_q = 0, heads_kv = 0;  // query head h reads kv head h / (heads_q / heads_kv)
  Index n_q = 0, n_k = 0;           // of the longest sequence
  Index head_dim = 0, head_dim_v = 0;
  // Of each sequence, [batch]: its tokens, and where packed its first token. Null: n_q, n_k and 0.
  const Index *lengths_q = nullptr, *lengths_k = nullptr;
  const Index *first_q = nullptr, *first_k = nullptr;

  Window window;
  Index sinks = 0;  // tokens
  Anchor anchor = Anchor::bottom_right;
  double scale = 1;    // of q.k
  double softcap = 0;  // 0: none
};

// One sequence of a call: its entry, its first tokens, and who sees whom within it.
struct CallSequence {
  Index entry = 0, q_row = 0, k_row = 0;
  Mask mask;
};

SWA_HD inline CallSequence sequence_of(const ForwardParams& p, Index s) {
  const bool packed = p.first_q != nullptr;
  const Index n_q = p.lengths_q != nullptr ? p.lengths_q[s] : p.n_q;
  const Index n_k = p.lengths_k != nullptr ? p.lengths_k[s] : p.n_k;
  return {packed ? 0 : s, packed ? p.first_q[s] : 0, packed ? p.first_k[s] : 0,
          Mask::make(p.window, p.sinks, n_q, n_k, p.anchor)};
}

SWA_HD constexpr Index offset(const Strides& strides, Index entry, Index head, Index token) {
  return entry * strides.batch + head * strides.head + token * strides.token;
}

}  // namespace swa
