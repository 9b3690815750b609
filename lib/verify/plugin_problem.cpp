#include "verify/plugin_problem.hpp"

#include <algorithm>
#include <stdexcept>

#include "parallel.hpp"

namespace swa {
namespace {

int dtype_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp64:
      return SWA_FP64;
    case Dtype::fp32:
    case Dtype::tf32:
      return SWA_FP32;
    case Dtype::bf16:
      return SWA_BF16;
    case Dtype::fp16:
      return SWA_FP16;
    case Dtype::fp8_e4m3:
    case Dtype::fp8_e5m2:
      break;
  }
  throw std::logic_error("swa_plugin.h has no 8-bit dtype");
}

swa_int reach_of(Side side) {
  return side.bounded ? side.reach : -1;
}

void set_mask(swa_attention& a, const Problem& p) {
  const Side left = p.window.reach_left(), right = p.window.reach_right();
  const bool chunked = p.window.kind == Window::Kind::chunked;
  a.left = reach_of(left);
  a.right = reach_of(right);
  a.chunk = chunked ? p.window.width : 0;
  const bool causal = right.bounded && right.reach == 0;
  a.window = causal && left.bounded ? left.reach + 1 : 0;
  a.sinks = p.sinks;
  a.anchor = p.anchor == Anchor::bottom_right ? SWA_BOTTOM_RIGHT : SWA_TOP_LEFT;
}

void set_strides(swa_int (&strides)[3], const Shape& shape) {
  strides[2] = shape.dim;
  strides[1] = shape.tokens * strides[2];
  strides[0] = shape.heads * strides[1];
}

std::vector<swa_int> offsets_of(const std::vector<swa_int>& lengths) {
  std::vector<swa_int> offsets{0};
  for (const swa_int length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

}  // namespace

swa_attention attention_of(const Problem& p, int task) {
  swa_attention a{};
  a.version = SWA_PLUGIN_VERSION;
  a.struct_size = sizeof a;
  a.task = task;
  a.memory = SWA_HOST;
  a.dtype = dtype_of(p.dtype);
  a.layout = p.layout == Layout::padded ? SWA_PADDED : SWA_PACKED;
  a.has_sink_logits = p.sink_logits ? 1 : 0;
  a.batch = p.batch;
  a.heads_q = p.heads_q;
  a.heads_kv = p.heads_kv;
  a.n_q = p.n_q;
  a.n_k = p.n_k;
  a.head_dim = p.head_dim;
  a.head_dim_v = p.value_dim();
  set_mask(a, p);
  a.scale = p.score_scale();
  a.softcap = p.softcap;
  set_strides(a.q_strides, p.query_shape(p.head_dim));
  set_strides(a.k_strides, p.key_shape(p.head_dim));
  set_strides(a.v_strides, p.key_shape(p.value_dim()));
  set_strides(a.out_strides, p.query_shape(p.value_dim()));
  set_strides(a.lse_strides, p.query_shape(1));
  a.max_threads = thread_count();
  return a;
}

SequenceArrays sequence_arrays(const Problem& p) {
  SequenceArrays arrays;
  if (!p.has_lengths()) return arrays;
  for (Index s = 0; s < p.batch; ++s) {
    arrays.lengths_q.push_back(p.queries(s));
    arrays.lengths_k.push_back(p.keys(s));
  }
  if (p.layout == Layout::packed) {
    arrays.offsets_q = offsets_of(arrays.lengths_q);
    arrays.offsets_k = offsets_of(arrays.lengths_k);
  }
  return arrays;
}

}  // namespace swa
