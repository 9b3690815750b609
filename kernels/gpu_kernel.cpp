#include "kernels/gpu_kernel.hpp"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>

#include "kernels/device/call.hpp"
#include "kernels/device/device.hpp"
#include "kernels/device/tensors.hpp"
#include "kernels/forward.hpp"
#include "kernels/launch/band.hpp"
#include "kernels/launch/decode_call.hpp"
#include "kernels/launch/dispatch.hpp"
#include "kernels/launch/prefill_call.hpp"
#include "kernels/naive/naive.hpp"
#include "kernels/portable/launch.hpp"
#include "kernels/sm90/launch.hpp"
#include "verify/elements.hpp"
#include "verify/kernel.hpp"

namespace swa {
namespace {

std::optional<std::string> too_large(const Problem& p) {
  const double needed = device::tensor_bytes(p, p.dtype);
  const auto spare = static_cast<double>(device::spare_bytes());
  if (needed <= spare) return std::nullopt;
  return fmt::format("needs {:.1f} GiB on the GPU, which has {:.1f} left", needed / 0x1p30,
                     spare / 0x1p30);
}

GpuKernel naive_kernel() {
  GpuKernel kernel;
  kernel.name = "naive";
  kernel.sums = {1, kMaxIndex};
  kernel.unsupported = [](const Problem& p) -> std::optional<std::string> {
    if (const auto reason = needs_contiguous(p)) return reason;
    if (!has_elements(p.dtype)) return fmt::format("computes no {}", name(p.dtype));
    const double rows =
        static_cast<double>(p.batch) * static_cast<double>(p.heads_q) * static_cast<double>(p.n_q);
    if (rows > largest_naive()) return fmt::format("has at most {:.3g} rows", largest_naive());
    return too_large(p);
  };
  kernel.prepare = [](const Problem& p, Workspace&) -> GpuLaunch {
    return [dtype = p.dtype](const ForwardParams& params, cudaStream_t stream) {
      return launch_naive(params, dtype, stream);
    };
  };
  kernel.issued_pairs = visible_pairs_of;
  kernel.for_use = false;
  kernel.mma = [](Dtype dtype) -> std::string_view { return dtype == Dtype::fp64 ? "" : "fma"; };
  return kernel;
}

std::string_view mma_of_portable(Dtype dtype) {
  return dtype == Dtype::fp32 ? "fma" : "mma.sync";
}

Scores scores_of(const Problem& p) {
  return p.score_scale() > 0 && p.softcap == 0 ? Scores::plain : Scores::general;
}

PrefillCall call_of(const PrefillPlan& plan) {
  PrefillCall call;
  call.heads = static_cast<int>(plan.heads);
  call.positions = static_cast<int>(plan.positions);
  call.query_tiles = static_cast<int>(plan.query_tiles);
  call.blocks = static_cast<unsigned>(plan.blocks);
  return call;
}

GpuKernel prefill_kernel(std::string name, TileLoop walk) {
  GpuKernel kernel;
  kernel.name = std::move(name);
  kernel.sums = {16, 64};  // a product adds up 16 keys, or a key tile of 16, 32 or 64 does
  // A key's v meets the weights of all positions of a query tile that holds a row which sees it.
  kernel.granule = kLongestPrefillTile - 1;
  kernel.tile = [](const Problem& p) { return plan_prefill(p).shape(); };
  kernel.unsupported = [](const Problem& p) -> std::optional<std::string> {
    if (const auto reason = needs_contiguous(p)) return reason;
    if (const auto reason = prefill_refusal(p, this_gpu())) return reason;
    return too_large(p);
  };
  kernel.prepare = [walk](const Problem& p, Workspace&) -> GpuLaunch {
    const PrefillVariant variant{scores_of(p), walk};
    return [call = call_of(plan_prefill(p)), variant, dtype = p.dtype](
               const ForwardParams& params, cudaStream_t stream) mutable {
      call.params = params;
      if (stored_dtype(dtype) == Dtype::fp32) {
        return portable::launch_prefill_fp32(call, dtype, variant.walk, stream);
      }
      return portable::launch_prefill(call, dtype, variant, stream);
    };
  };
  kernel.issued_pairs = [walk](const Problem& p) { return issued_pairs(p, plan_prefill(p), walk); };
  kernel.for_use = walk == TileLoop::window;
  kernel.mma = mma_of_portable;
  return kernel;
}

GpuKernel planted_kernel(const PlantedFault& one) {
  GpuKernel kernel = prefill_kernel(fmt::format("{}{}", kPlantedGpu, one.fault), TileLoop::window);
  kernel.tile = [planted = one.planted](const Problem& p) { return planted_tile(p, planted); };
  kernel.unsupported = [planted = one.planted, right = kernel.unsupported](const Problem& p) {
    const std::optional<std::string> reason = right(p);
    return reason ? reason : planted_unsupported(p, planted);
  };
  kernel.prepare = [planted = one.planted](const Problem& p, Workspace&) -> GpuLaunch {
    return [call = call_of(plan_prefill(p)), planted](const ForwardParams& params,
                                                      cudaStream_t stream) mutable {
      call.params = params;
      return portable::launch_planted(call, planted, stream);
    };
  };
  return kernel;
}

template <class Number>
Number* allocate(Workspace& workspace, Index count) {
  workspace.emplace_back(static_cast<std::size_t>(count) * sizeof(Number));
  SWA_CUDA(cudaMemset(workspace.back().get(), 0xff, workspace.back().bytes()));  // NaN
  return static_cast<Number*>(workspace.back().get());
}

GpuKernel decode_kernel() {
  GpuKernel kernel;
  kernel.name = "portable-decode";
  kernel.sums = {1, 64};  // a stage has 16 keys; runs of warps and parts are of any length
  // A key's v meets the weights of all positions of the call.
  kernel.granule = kMostDecodeQueries - 1;
  kernel.unsupported = [](const Problem& p) -> std::optional<std::string> {
    if (const auto reason = decode_refusal(p, this_gpu())) return reason;
    return too_large(p);
  };
  kernel.prepare = [](const Problem& p, Workspace& workspace) -> GpuLaunch {
    const DecodePlan plan = plan_decode(p, this_gpu().multiprocessors);
    DecodeCall call;
    call.row_tiles = static_cast<int>(plan.row_tiles);
    call.splits = static_cast<int>(plan.splits);
    call.blocks = static_cast<unsigned>(plan.blocks);
    if (plan.splits > 1) {
      const Index parts = plan.rows() * plan.splits;
      call.sums = allocate<float>(workspace, parts * p.value_dim());
      call.states = allocate<float>(workspace, 2 * parts);
      call.ended = allocate<unsigned>(workspace, plan.rows() / DecodeTile::kRows);
      SWA_CUDA(cudaMemset(call.ended, 0, workspace.back().bytes()));
    }
    return [call, dtype = p.dtype, scores = scores_of(p)](const ForwardParams& params,
                                                          cudaStream_t stream) mutable {
      call.params = params;
      return portable::launch_decode(call, dtype, scores, stream);
    };
  };
  kernel.issued_pairs = decode_issued_pairs;
  kernel.mma = mma_of_portable;
  return kernel;
}

GpuKernel band_kernel() {
  GpuKernel kernel;
  kernel.name = "sm90-band";
  kernel.sums = {16, kLongestBandPass, true};
  kernel.granule = band_granule();
  kernel.tile = [](const Problem& p) { return TileShape{plan_band(p, this_gpu()).positions, 8}; };
  kernel.unsupported = [](const Problem& p) -> std::optional<std::string> {
    if (const auto reason = band_unsupported(p, this_gpu())) return reason;
    if (!sm90::compiled()) return "is not in this build: SWA_ARCHS=90a compiles it";
    return too_large(p);
  };
  kernel.prepare = [](const Problem& p, Workspace& workspace) -> GpuLaunch {
    const BandPlan plan = plan_band(p, this_gpu());
    sm90::BandCall call;
    call.heads = plan.heads;
    call.head_bits = std::countr_zero(static_cast<unsigned>(plan.heads));
    call.group = static_cast<int>(p.group());
    call.positions = plan.positions;
    call.head_groups = plan.head_groups;
    call.passes = plan.passes;
    call.slots = plan.slots;
    call.query_stages = plan.query_stages;
    call.history = plan.history();
    call.rounds = plan.rounds;
    call.units = static_cast<int>(plan.units);
    call.blocks = static_cast<unsigned>(plan.blocks);
    const Shape q = p.query_shape(p.head_dim), k = p.key_shape(p.head_dim);
    call.tokens_k = static_cast<int>(k.tokens);
    if (!plan.first_unit.empty()) {
      int* const first = allocate<int>(workspace, static_cast<Index>(plan.first_unit.size()));
      SWA_CUDA(cudaMemcpy(first, plan.first_unit.data(), plan.first_unit.size() * sizeof(int),
                          cudaMemcpyHostToDevice));
      call.first_unit = first;
    }
    return [call, plan, tokens_q = q.tokens, entries = q.batch, dtype = p.dtype, window = p.window](
               const ForwardParams& params, cudaStream_t stream) mutable {
      if (!(params.window == window))
        return cudaErrorInvalidValue;  // the ring is made for this one
      call.params = params;
      if (call.units == 0) return cudaSuccess;
      return sm90::launch_band(plan, call, tokens_q, entries, dtype, stream);
    };
  };
  kernel.issued_pairs = [](const Problem& p) { return issued_pairs(p, plan_band(p, this_gpu())); };
  kernel.mma = [](Dtype /*dtype*/) -> std::string_view { return "wgmma"; };
  return kernel;
}

}  // namespace

const GpuModel& this_gpu() {
  static const device::Facts kFacts = device::all().front();
  static const std::string kArch = fmt::format("sm_{}{}", kFacts.major, kFacts.minor);
  static const GpuModel kGpu{kArch, kFacts.name, kFacts.multiprocessors,
                             static_cast<int>(kFacts.shared_per_block)};
  return kGpu;
}

const std::vector<GpuKernel>& all_gpu_kernels() {
  static const std::vector<GpuKernel> kAll{
      naive_kernel(), prefill_kernel("portable-prefill", TileLoop::window),
      prefill_kernel("portable-mask-only", TileLoop::all), decode_kernel(), band_kernel()};
  return kAll;
}

const GpuKernel& gpu_kernel(const std::string& name) {
  for (const GpuKernel& kernel : all_gpu_kernels()) {
    if (kernel.name == name) return kernel;
  }
  throw std::logic_error("no GPU kernel is called " + name);
}

const std::vector<GpuKernel>& all_planted_gpu_kernels() {
  static const std::vector<GpuKernel> kAll = [] {
    std::vector<GpuKernel> all;
    for (const PlantedFault& one : kPlantedFaults) all.push_back(planted_kernel(one));
    return all;
  }();
  return kAll;
}

}  // namespace swa
