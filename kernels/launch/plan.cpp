#include "kernels/launch/plan.hpp"

#include <fmt/format.h>

#include "kernels/launch/band.hpp"
#include "kernels/launch/decode.hpp"
#include "kernels/launch/dispatch.hpp"
#include "kernels/launch/prefill.hpp"

namespace swa {
namespace {

std::string reason_of(const Problem& p, const PrefillPlan& plan, TileLoop walk) {
  if (walk == TileLoop::all) return "visits every key tile and leaves the window to the mask";
  if (p.group() == 1) return "one head a tile: its kv head serves no other";
  if (plan.heads == 1) {
    return fmt::format(
        "one head a tile: {} in a tile would leave rows idle for more than the "
        "narrower band saves",
        p.group());
  }
  return fmt::format("{} heads of a kv head in a tile: {} positions, not {}, so a narrower band",
                     plan.heads, plan.positions, plan.BM);
}

LaunchPlan prefill_of(const Problem& p, const std::string& kernel, TileLoop walk,
                      const GpuModel& gpu) {
  LaunchPlan launch;
  launch.kernel = kernel;
  launch.unsupported = prefill_refusal(p, gpu);
  if (launch.unsupported) return launch;
  const PrefillPlan plan = plan_prefill(p);
  launch.reason = reason_of(p, plan, walk);
  launch.BM = plan.BM;
  launch.BN = plan.BN;
  launch.heads = plan.heads;
  launch.positions = plan.positions;
  launch.blocks = plan.blocks;
  launch.threads = plan.threads;
  launch.smem_bytes = plan.smem_bytes;
  launch.splits = 1;
  launch.tiles = prefill_tiles(p, plan, walk);
  launch.packed = plan.heads;
  launch.issued_pairs = issued_pairs(p, plan, walk);
  return launch;
}

LaunchPlan decode_of(const Problem& p, const GpuModel& gpu) {
  LaunchPlan launch;
  launch.kernel = "portable-decode";
  launch.unsupported = decode_refusal(p, gpu);
  if (launch.unsupported) return launch;
  const DecodePlan plan = plan_decode(p, gpu.multiprocessors);
  launch.reason =
      plan.splits == 1
          ? "one part: there are blocks enough, or too few keys for each warp to stream"
          : fmt::format("{} parts of the keys that the rows see, for {} multiprocessors",
                        plan.splits, gpu.multiprocessors);
  launch.BM = DecodeTile::kRows;
  launch.BN = DecodeTile::kKeys;
  launch.heads = smaller(p.group(), launch.BM);
  launch.positions = smaller(p.n_q, ceil_div(launch.BM, p.group()));
  launch.blocks = plan.blocks;
  launch.threads = plan.tile.threads();
  launch.smem_bytes = plan.tile.smem_bytes();
  launch.splits = plan.splits;
  launch.tiles = decode_tiles(p);
  launch.packed = p.group();
  launch.issued_pairs = decode_issued_pairs(p);
  return launch;
}

LaunchPlan band_of(const Problem& p, const GpuModel& gpu) {
  LaunchPlan launch;
  launch.kernel = "sm90-band";
  launch.keeps_band = true;
  launch.unsupported = band_unsupported(p, gpu);
  if (launch.unsupported) return launch;
  const BandPlan plan = plan_band(p, gpu);
  launch.reason = fmt::format(
      "a ring of {} keys; {} of {} keys each", plan.slots * plan.tile.entry,
      plan.passes == 1 ? std::string("one pass") : fmt::format("{} passes", plan.passes),
      8 * plan.tile.blocks);
  launch.BM = BandTile::kRows;
  launch.BN = 8 * plan.tile.blocks;
  launch.heads = launch.packed = plan.heads;
  launch.positions = plan.positions;
  launch.blocks = plan.blocks;
  launch.threads = plan.tile.threads();
  launch.smem_bytes = plan.smem_bytes();
  launch.splits = 1;
  launch.issued_pairs = issued_pairs(p, plan);
  return launch;
}

}  // namespace

std::optional<std::string> too_much_shared_memory(std::int64_t bytes, const GpuModel& gpu) {
  if (bytes <= gpu.shared_per_block) return std::nullopt;
  return fmt::format("needs {} bytes of shared memory, and a block of {} has {}", bytes, gpu.arch,
                     gpu.shared_per_block);
}

std::vector<LaunchPlan> launch_plans(const Problem& p, const GpuModel& gpu) {
  return {prefill_of(p, "portable-prefill", TileLoop::window, gpu),
          prefill_of(p, "portable-mask-only", TileLoop::all, gpu), decode_of(p, gpu),
          band_of(p, gpu)};
}

}  // namespace swa
