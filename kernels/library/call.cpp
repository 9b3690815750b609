#include "kernels/library/call.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>

#include "kernels/device/call.hpp"
#include "kernels/device/tensors.hpp"
#include "kernels/launch/dispatch.hpp"

namespace swa::library {
namespace {

Window window_of(const swa_attention& a) {
  if (a.chunk > 0) return Window::chunked(a.chunk);
  if (a.window > 0) return Window::causal(a.window);
  if (a.left < 0 && a.right == 0) return Window::global();
  const auto side = [](swa_int reach) { return reach < 0 ? Side::unbounded() : Side::of(reach); };
  return Window::band(side(a.left), side(a.right));
}

bool is_aligned(const void* pointer, const swa_int (&strides)[3]) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0 &&
         std::all_of(std::begin(strides), std::end(strides),
                     [](swa_int stride) { return stride % 8 == 0; });
}

// Those of the problem of the call before.
const device::SequenceTables& sequences_of(const Problem& p) {
  static Problem last;
  static device::SequenceTables tables;
  if (last != p) {
    tables = device::SequenceTables(p);
    last = p;
  }
  return tables;
}

// The problem of the call before, planned.
struct Prepared {
  Problem problem;
  Workspace workspace;
  GpuLaunch launch;
};

}  // namespace

Problem problem_of(const swa_attention& a) {
  Problem p;
  p.batch = a.batch;
  p.heads_q = a.heads_q;
  p.heads_kv = a.heads_kv;
  p.n_q = a.n_q;
  p.n_k = a.n_k;
  if (a.lengths_q != nullptr) {
    p.lengths_q.assign(a.lengths_q, a.lengths_q + a.batch);
    p.lengths_k.assign(a.lengths_k, a.lengths_k + a.batch);
  }
  p.layout = a.layout == SWA_PACKED ? Layout::packed : Layout::padded;
  p.head_dim = a.head_dim;
  p.head_dim_v = a.head_dim_v;
  p.window = window_of(a);
  p.sinks = a.sinks;
  p.sink_logits = a.has_sink_logits != 0;
  p.softcap = a.softcap;
  p.scale = a.scale;
  p.anchor = a.anchor == SWA_TOP_LEFT ? Anchor::top_left : Anchor::bottom_right;
  p.dtype = a.dtype == SWA_FP16 ? Dtype::fp16 : Dtype::bf16;
  return p;
}

std::string refusal(const swa_attention& a) {
  if (a.dtype != SWA_BF16 && a.dtype != SWA_FP16) return "takes bf16 and fp16 only";
  if (a.task == SWA_FORWARD &&
      !(is_aligned(a.q, a.q_strides) && is_aligned(a.k, a.k_strides) &&
        is_aligned(a.v, a.v_strides) && is_aligned(a.out, a.out_strides))) {
    return "wants each token to begin at a multiple of 16 bytes";
  }
  return {};
}

const GpuKernel* kernel_for(const Problem& p, std::string& reason) {
  const Dispatch choice = dispatch(p, this_gpu());
  reason = choice.reason;
  if (choice.kernel.empty()) return nullptr;
  // The chosen one may not be in this build, or its memory may not be there.
  for (const std::string& name : {choice.kernel, std::string("portable-prefill")}) {
    const GpuKernel& kernel = gpu_kernel(name);
    reason = kernel.unsupported(p).value_or("");
    if (reason.empty()) return &kernel;
  }
  return nullptr;
}

ForwardParams params_of(const swa_attention& a, const Problem& p) {
  const auto strides = [](const swa_int(&s)[3]) { return Strides{s[0], s[1], s[2]}; };
  ForwardParams params = device::sizes_of(p);
  params.q = a.q;
  params.k = a.k;
  params.v = a.v;
  params.sink_logits = a.sink_logits;
  params.out = a.out;
  params.lse = a.lse;
  params.q_strides = strides(a.q_strides);
  params.k_strides = strides(a.k_strides);
  params.v_strides = strides(a.v_strides);
  params.out_strides = strides(a.out_strides);
  params.lse_strides = strides(a.lse_strides);
  if (p.has_lengths()) sequences_of(p).point(params);
  return params;
}

void launch(const swa_attention& a, const Problem& p, const GpuKernel& kernel) {
  static Prepared last;
  if (!last.launch || !(last.problem == p)) {
    last = Prepared{p, {}, {}};
    last.launch = kernel.prepare(p, last.workspace);
  }
  device::require(last.launch(params_of(a, p), static_cast<cudaStream_t>(a.stream)),
                  kernel.name.c_str());
}

int answer(swa_attention& a, int result, const std::string& message) {
  const std::size_t length = std::min(message.size(), sizeof(a.message) - 1);
  std::copy_n(message.begin(), length, a.message);
  a.message[length] = 0;
  return result;
}

}  // namespace swa::library
