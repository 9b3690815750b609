// The portable kernels as a device plug-in (verify/swa_plugin.h): a shared library for programs
// that have their tensors on the GPU already. Few queries go to portable-decode, the rest to
// portable-prefill. A call that differs from the one before in its pointers alone allocates and
// copies nothing, so that it can be captured in a graph.
#include <algorithm>
#include <exception>
#include <iterator>
#include <optional>
#include <string>

#include "kernels/device/call.hpp"
#include "kernels/device/tensors.hpp"
#include "kernels/gpu_kernel.hpp"
#include "verify/swa_plugin.h"

namespace swa {
namespace {

Window window_of(const swa_attention& a) {
  if (a.chunk > 0) return Window::chunked(a.chunk);
  if (a.window > 0) return Window::causal(a.window);
  if (a.left < 0 && a.right == 0) return Window::global();
  const auto side = [](swa_int reach) { return reach < 0 ? Side::unbounded() : Side::of(reach); };
  return Window::band(side(a.left), side(a.right));
}

Problem problem_of(const swa_attention& a) {
  Problem p;
  p.batch = a.batch;
  p.heads_q = a.heads_q;
  p.heads_kv = a.heads_kv;
  p.n_q = a.n_q;
  p.n_k = a.n_k;
  p.head_dim = a.head_dim;
  p.head_dim_v = a.head_dim_v;
  p.window = window_of(a);
  p.sinks = a.sinks;
  p.softcap = a.softcap;
  p.scale = a.scale;
  p.anchor = a.anchor == SWA_TOP_LEFT ? Anchor::top_left : Anchor::bottom_right;
  p.dtype = a.dtype == SWA_FP16 ? Dtype::fp16 : Dtype::bf16;
  return p;
}

ForwardParams params_of(const swa_attention& a, const Problem& p) {
  const auto strides = [](const swa_int(&s)[3]) { return Strides{s[0], s[1], s[2]}; };
  ForwardParams params = device::sizes_of(p);
  params.q = a.q;
  params.k = a.k;
  params.v = a.v;
  params.out = a.out;
  params.lse = a.lse;
  params.q_strides = strides(a.q_strides);
  params.k_strides = strides(a.k_strides);
  params.v_strides = strides(a.v_strides);
  params.out_strides = strides(a.out_strides);
  params.lse_strides = strides(a.lse_strides);
  return params;
}

bool is_aligned(const void* pointer, const swa_int (&strides)[3]) {
  return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0 &&
         std::all_of(std::begin(strides), std::end(strides),
                     [](swa_int stride) { return stride % 8 == 0; });
}

// Why none of the kernels can take what the struct says; empty where one can.
std::string refusal(const swa_attention& a) {
  if (a.dtype != SWA_BF16 && a.dtype != SWA_FP16) return "takes bf16 and fp16 only";
  if (a.lengths_q != nullptr) return "takes sequences of one length only";
  if (a.has_sink_logits != 0) return "takes no sink logits";
  if (a.task == SWA_FORWARD &&
      !(is_aligned(a.q, a.q_strides) && is_aligned(a.k, a.k_strides) &&
        is_aligned(a.v, a.v_strides) && is_aligned(a.out, a.out_strides))) {
    return "wants each token to begin at a multiple of 16 bytes";
  }
  return {};
}

// The kernel for the problem; null, with the reason, where none takes it.
const GpuKernel* kernel_for(const Problem& p, std::string& reason) {
  for (const char* const name : {"portable-decode", "portable-prefill"}) {
    for (const GpuKernel& kernel : all_gpu_kernels()) {
      if (kernel.name != name) continue;
      const std::optional<std::string> why = kernel.unsupported(p);
      if (!why) return &kernel;
      reason = *why;
    }
  }
  return nullptr;
}

// The problem of the call before, planned.
struct Prepared {
  Problem problem;
  Workspace workspace;
  GpuLaunch launch;
};

void forward(const swa_attention& a, const Problem& p, const GpuKernel& kernel) {
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

int run(swa_attention& a) {
  a.memory = SWA_DEVICE;
  a.granule = 128;  // rows of the longest query tile
  std::string reason = refusal(a);
  const Problem problem = problem_of(a);
  const GpuKernel* const kernel = reason.empty() ? kernel_for(problem, reason) : nullptr;
  if (kernel == nullptr) {
    return answer(a, a.task == SWA_DESCRIBE ? SWA_UNSUPPORTED : SWA_FAILED, reason);
  }
  if (a.task == SWA_FORWARD) forward(a, problem, *kernel);
  return SWA_OK;
}

}  // namespace
}  // namespace swa

int swa_plugin(struct swa_attention* attention) {
  SWA_PLUGIN_BEGIN(attention);
  try {
    return swa::run(*attention);
  } catch (const std::exception& error) {
    return swa::answer(*attention, SWA_FAILED, error.what());
  }
}
