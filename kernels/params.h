// What a kernel is launched with. Kernels see this, the rules of mask and tiles, and nothing else
// of the project.
#pragma once

#include <cstdint>

#include "cache/layout.hpp"
#include "mask/window.hpp"

namespace swa {

// Elements from one batch entry, head and token to the next; the dim of a token has stride 1.
struct Strides {
  Index batch = 0, head = 0, token = 0;
};

// Where the K and V of a key lie.
struct KeyCache {
  CacheKind kind = CacheKind::contiguous;
  Index capacity = 0;                   // slots of a ring
  Index page = 0;                       // tokens of a page
  const std::int32_t* table = nullptr;  // [batch, table_stride]: the page of keys i page and on
  Index table_stride = 0;
};

// When the first warp of a launch began on a multiprocessor and the last one ended: its own clock,
// and nanoseconds.
struct SmClock {
  unsigned long long first_cycle, last_cycle, first_ns, last_ns;
};
inline constexpr unsigned kMostSmClocks = 1024;

// One forward call. Pointers are on the device; sizes and strides count elements. Entries are the
// sequences where padded, one where packed; tokens are those of an entry.
struct ForwardParams {
  const void* q = nullptr;  // [entries, heads_q, tokens_q, head_dim]
  // [entries, heads_kv, tokens_k, head_dim], or head_dim_v; of a ring tokens_k is its capacity, and
  // of pages the shape is [pages, heads_kv, page, ...].
  const void* k = nullptr;
  const void* v = nullptr;
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
  KeyCache cache;      // of k and v

  // [kMostSmClocks], {max, 0, max, 0} before: of each multiprocessor. Null: not wanted.
  SmClock* clocks = nullptr;
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

// Of key `key` of sequence s in k or v, without its head. Keys that are not in the cache have none.
SWA_HD inline Index key_offset(const ForwardParams& p, const Strides& strides,
                               const CallSequence& sequence, Index s, Index key) {
  switch (p.cache.kind) {
    case CacheKind::contiguous:
      break;
    case CacheKind::ring:
      return sequence.entry * strides.batch + key % p.cache.capacity * strides.token;
    case CacheKind::paged:
      return p.cache.table[s * p.cache.table_stride + key / p.cache.page] * strides.batch +
             key % p.cache.page * strides.token;
  }
  return sequence.entry * strides.batch + (sequence.k_row + key) * strides.token;
}

SWA_HD constexpr Index offset(const Strides& strides, Index entry, Index head, Index token) {
  return entry * strides.batch + head * strides.head + token * strides.token;
}

}  // namespace swa
