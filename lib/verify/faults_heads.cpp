// Faults of which rows of which tensor are read: heads, sequences, strides, caches.
#include <utility>

#include "reference/rope.hpp"
#include "verify/fault_tables.hpp"

namespace swa {
namespace {

// The tensor as it looks to a kernel that takes the elements [batch, heads, tokens] of memory for
// [batch, tokens, heads].
template <class IndexOf>
void reread(Tensor<double>& t, IndexOf index_of) {
  const Tensor<double> stored = t;
  const Shape s = t.shape;
  for (Index b = 0; b < s.batch; ++b) {
    for (Index h = 0; h < s.heads; ++h) {
      for (Index n = 0; n < s.tokens; ++n) {
        for (Index d = 0; d < s.dim; ++d) {
          const Index from = index_of(s, b, h, n, d);
          t.row(b, h, n)[d] = stored.data[static_cast<std::size_t>(from % s.size())];
        }
      }
    }
  }
}

Index tokens_before_heads(const Shape& s, Index b, Index h, Index n, Index d) {
  return ((b * s.tokens + n) * s.heads + h) * s.dim + d;
}

Index heads_before_batch(const Shape& s, Index b, Index h, Index n, Index d) {
  return ((h * s.batch + b) * s.tokens + n) * s.dim + d;
}

using Reading = Index (*)(const Shape&, Index, Index, Index, Index);

// Reads q, k and v in the wrong order, and writes the output in it.
void plant_order(Plan& plan, Reading reading) {
  plan.input_edits.emplace_back([reading](const Problem&, Inputs& in) {
    for (Tensor<double>* t : {&in.q, &in.k, &in.v}) reread(*t, reading);
  });
  plan.output_edits.emplace_back([reading](const Problem&, Attention& got) {
    for (Tensor<double>* t : {&got.out, &got.lse}) {
      const Tensor<double> computed = *t;
      const Shape s = t->shape;
      for (Index i = 0; i < s.size(); ++i) {
        const Index d = i % s.dim, n = i / s.dim % s.tokens;
        const Index h = i / s.dim / s.tokens % s.heads, b = i / s.dim / s.tokens / s.heads;
        t->data[static_cast<std::size_t>(reading(s, b, h, n, d))] =
            computed.data[static_cast<std::size_t>(i)];
      }
    }
  });
}

// After the plan's own choice of source.
template <class Edit>
void edit_source(Plan& plan, Edit edit) {
  plan.steps.source = [before = plan.steps, problem = plan.problem, edit](const Sequence& s,
                                                                          Index head) {
    KvSource source = source_of(before, problem, s, head);
    edit(s, head, source);
    return source;
  };
}

// Each key turned by the angle of `position(key)`, besides what was there.
template <class Position>
void turn_keys(Plan& plan, Position position) {
  if (plan.problem.head_dim % 2 != 0) return;
  plan.input_edits.emplace_back([position](const Problem& p, Inputs& in) {
    for (const Sequence& s : sequences(p)) {
      for (Index h = 0; h < p.heads_kv; ++h) {
        for (Index key = 0; key < s.mask.n_k; ++key) {
          rotate({in.k.row(s.batch, h, s.k_row + key), static_cast<std::size_t>(p.head_dim)},
                 static_cast<double>(position(s.mask, key)));
        }
      }
    }
  });
}

// A call on a history that is longer than the window, so that a ring has lost its oldest keys.
bool wraps_a_ring(const Mask& m) {
  return m.window.kind == Window::Kind::causal && m.n_q < m.n_k && m.window.width < m.n_k;
}

}  // namespace

std::vector<Fault> head_faults() {
  return {
      {"kv-head-modulo", "heads", "query head h reads kv head h mod heads_kv",
       "heads are interleaved instead of grouped", "query head h reads kv head h / group",
       [](Plan& plan) {
         edit_source(plan, [heads_kv = plan.problem.heads_kv](const Sequence&, Index head,
                                                              KvSource& source) {
           source.head = head % heads_kv;
         });
       }},
      {"kv-head-zero", "heads", "all query heads read kv head 0", "the head index is missing",
       "query head h reads kv head h / group",
       [](Plan& plan) {
         edit_source(plan, [](const Sequence&, Index, KvSource& source) { source.head = 0; });
       }},
      {"packed-row-as-position", "heads",
       "the row of a tile that packs a group of heads is taken for the position",
       "the packed row is not divided by the group", "position = packed row / group + q_offset",
       [](Plan& plan) {
         if (plan.problem.group() == 1) return;
         plan.row_edits.emplace_back([](PlannedRow& r) {
           const Index packed = r.row * r.group + r.head % r.group;
           r.band = {band_begin(r.mask, packed), band_end(r.mask, packed)};
           r.sinks = smaller(r.mask.sinks, r.band.end);
         });
       }},
      {"kv-of-next-sequence", "batch", "each sequence reads the keys of the next one",
       "the batch index of k and v is off", "read k and v of the query's own sequence",
       [](Plan& plan) {
         const Index batch = plan.problem.batch;
         if (plan.problem.layout == Layout::packed || batch == 1) return;
         edit_source(plan, [batch](const Sequence& s, Index, KvSource& source) {
           source.batch = (s.batch + 1) % batch;
         });
       }},
      {"k-and-v-swapped", "heads", "k and v have changed places", "two arguments are swapped",
       "pass q, k, v in this order",
       [](Plan& plan) {
         if (plan.problem.value_dim() != plan.problem.head_dim) return;
         plan.input_edits.emplace_back([](const Problem&, Inputs& in) { std::swap(in.k, in.v); });
       }},
      {"heads-and-tokens-swapped", "strides", "[heads, tokens] is read as [tokens, heads]",
       "the layout is BHND where the kernel expects BNHD, or the other way round",
       "transpose heads and tokens, or pass the strides",
       [](Plan& plan) { plant_order(plan, tokens_before_heads); }},
      {"batch-and-heads-swapped", "strides", "[batch, heads] is read as [heads, batch]",
       "the two outer dimensions are swapped", "pass the strides of batch and heads",
       [](Plan& plan) { plant_order(plan, heads_before_batch); }},
      {"v-with-stride-of-k", "strides", "rows of v are head_dim apart instead of head_dim_v",
       "one stride serves k and v", "pass the strides of v by themselves",
       [](Plan& plan) {
         plan.input_edits.emplace_back([](const Problem& p, Inputs& in) {
           reread(in.v, [d_k = p.head_dim](const Shape& s, Index b, Index h, Index n, Index d) {
             return ((b * s.heads + h) * s.tokens + n) * d_k + d;
           });
         });
       }},
  };
}

std::vector<Fault> cache_faults() {
  return {
      {"document-boundary-crossed", "batch", "packed sequences are taken for one sequence",
       "the mask does not know cu_seqlens", "end each row's keys at its own sequence",
       [](Plan& plan) {
         Problem& p = plan.problem;
         if (p.layout != Layout::packed) return;
         const Index n_q = p.query_shape(1).tokens, n_k = p.key_shape(1).tokens;
         p.layout = Layout::padded;
         p.batch = 1;
         p.lengths_q.clear();
         p.lengths_k.clear();
         p.n_q = n_q;
         p.n_k = n_k;
       }},
      {"keys-at-offsets-of-queries", "batch", "a packed sequence's keys begin where its queries do",
       "cu_seqlens_q serves for the keys too", "use cu_seqlens_k for k and v",
       [](Plan& plan) {
         if (plan.problem.layout != Layout::packed) return;
         const Index tokens = plan.problem.key_shape(1).tokens;
         edit_source(plan, [tokens](const Sequence& s, Index, KvSource& source) {
           source.first_row = smaller(s.q_row, tokens - s.mask.n_k);
         });
       }},
      {"lengths-ignored", "batch", "padding behind a sequence's keys is read as keys",
       "the padded n_k serves for every sequence", "end the keys at the sequence's own length",
       [](Plan& plan) {
         if (plan.problem.layout == Layout::padded) plan.problem.lengths_k.clear();
       }},
      {"chunk-written-first", "cache", "a chunk on a ring of W slots loses the keys before it",
       "the chunk is written into the ring before it attends, over keys that it still needs",
       "attend first and write after, or give the ring W - 1 + n_q slots",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           if (!wraps_a_ring(r.mask)) return;
           r.band.begin = larger(r.band.begin, r.mask.n_k - r.mask.window.width);
         });
       }},
      {"slot-as-position", "cache", "the mask compares ring slots instead of positions",
       "a slot of the ring is taken for the position of its key",
       "keep each slot's position: the newest p with p mod capacity = slot",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           if (!wraps_a_ring(r.mask)) return;
           const Index W = r.mask.window.width, q = r.position();
           const Index capacity = smaller(r.mask.n_k, W - 1 + r.mask.n_q);
           const Index oldest = r.mask.n_k - capacity;
           r.band = {oldest, r.mask.n_k};
           r.only = [=](Index key) {
             const Index slot = key % capacity;
             return key >= oldest && slot <= q && slot > q - W;
           };
         });
       }},
      {"rope-by-slot", "rope", "keys are turned by their ring slot instead of their position",
       "keys are cached before RoPE and turned when they are read, by slot",
       "turn each key by its position before it is cached",
       [](Plan& plan) {
         if (plan.problem.window.kind != Window::Kind::causal) return;
         turn_keys(plan, [](const Mask& m, Index key) { return key % m.window.width - key; });
       }},
      {"rope-twice", "rope", "keys are turned by twice their position",
       "RoPE is applied before the cache and again after it", "apply RoPE once",
       [](Plan& plan) { turn_keys(plan, [](const Mask&, Index key) { return key; }); }},
      {"rope-missing", "rope", "keys are not turned, queries are",
       "keys are cached before RoPE and read as they are", "apply RoPE to the keys too",
       [](Plan& plan) { turn_keys(plan, [](const Mask&, Index key) { return -key; }); }},
  };
}

}  // namespace swa
