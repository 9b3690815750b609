#include "kernels/forward.hpp"

#include <fmt/format.h>

#include "kernels/device/call.hpp"
#include "kernels/device/device.hpp"
#include "kernels/device/tensors.hpp"
#include "kernels/launch/prefill_call.hpp"
#include "kernels/naive/naive.hpp"
#include "kernels/portable/prefill_launch.hpp"
#include "verify/elements.hpp"

namespace swa {
namespace {

std::optional<std::string> too_large(const Problem& p) {
  const double needed = device::tensor_bytes(p, p.dtype);
  const auto spare = static_cast<double>(device::spare_bytes());
  if (needed <= spare) return std::nullopt;
  return fmt::format("needs {:.1f} GiB on the GPU, which has {:.1f} left", needed / 0x1p30,
                     spare / 0x1p30);
}

// Uploads, launches, waits, downloads.
template <class Launch>
void run_on_device(const Problem& p, const Inputs& inputs, Attention& outputs, Launch launch) {
  const device::Tensors tensors(p, inputs, p.dtype);
  device::require(launch(tensors.params()), "kernel launch");
  SWA_CUDA(cudaDeviceSynchronize());
  tensors.read(outputs);
}

Kernel naive_kernel() {
  Kernel kernel;
  kernel.name = "naive";
  kernel.sums = {1, kMaxIndex};
  kernel.granule = 1;
  kernel.unsupported = [](const Problem& p) -> std::optional<std::string> {
    if (const auto reason = needs_contiguous(p)) return reason;
    if (!has_elements(p.dtype)) return fmt::format("computes no {}", name(p.dtype));
    const double rows =
        static_cast<double>(p.batch) * static_cast<double>(p.heads_q) * static_cast<double>(p.n_q);
    if (rows > largest_naive()) return fmt::format("has at most {:.3g} rows", largest_naive());
    return too_large(p);
  };
  kernel.run = [](const Problem& p, const Inputs& inputs, Attention& outputs) {
    run_on_device(p, inputs, outputs, [&](const ForwardParams& params) {
      return launch_naive(params, p.dtype, nullptr);
    });
  };
  return kernel;
}

PrefillCall call_of(const ForwardParams& params, const PrefillPlan& plan) {
  PrefillCall call;
  call.params = params;
  call.heads = static_cast<int>(plan.heads);
  call.positions = static_cast<int>(plan.positions);
  call.query_tiles = static_cast<int>(plan.query_tiles);
  call.blocks = static_cast<unsigned>(plan.blocks);
  return call;
}

Kernel prefill_kernel(std::string name, Walk walk, Planted planted) {
  Kernel kernel;
  kernel.name = std::move(name);
  kernel.sums = {16, 64};  // a product adds up 16 keys, a key tile has 32 or 64
  // A key's v meets the weights of all positions of a query tile that holds a row which sees it.
  kernel.granule = kLongestPrefillTile - 1;
  const auto variant_of = [walk, planted](const Problem& p) {
    const bool plain = p.score_scale() > 0 && p.softcap == 0;
    return portable::PrefillVariant{plain ? Scores::plain : Scores::general, walk, planted};
  };
  kernel.unsupported = [variant_of](const Problem& p) -> std::optional<std::string> {
    if (const auto reason = needs_contiguous(p)) return reason;
    if (const auto reason = prefill_unsupported(p)) return reason;
    const portable::PrefillVariant variant = variant_of(p);
    if (variant.planted != Planted::nothing && variant.scores != Scores::plain) {
      return "is planted for scores without softcap and with a positive scale only";
    }
    return too_large(p);
  };
  kernel.run = [variant_of](const Problem& p, const Inputs& inputs, Attention& outputs) {
    run_on_device(p, inputs, outputs, [&](const ForwardParams& params) {
      return portable::launch_prefill(call_of(params, plan_prefill(p)), p.dtype, variant_of(p),
                                      nullptr);
    });
  };
  return kernel;
}

}  // namespace

std::vector<Kernel> gpu_kernels() {
  if (!gpu_absence().empty()) return {};
  return {naive_kernel(), prefill_kernel("portable-prefill", Walk::window, Planted::nothing),
          prefill_kernel("portable-mask-only", Walk::all, Planted::nothing)};
}

std::string gpu_absence() {
  return device::absence();
}

}  // namespace swa
