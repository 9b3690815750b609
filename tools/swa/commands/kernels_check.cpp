#include "commands/kernels_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "kernels/launch/prefill.hpp"
#include "kernels/resources/checks.hpp"

namespace swa::commands {
namespace {

constexpr int kHeadDim = 128;  // of the chapter's kernel

report::Table check_table(const std::vector<ResourceCheck>& checks) {
  report::Table table;
  table.name = "check";
  for (const ResourceCheck& check : checks) {
    const Resources& r = check.instance;
    report::Record record;
    record.add({"verdict", "verdict"}, std::string(check.holds ? "ok" : "violated"))
        .add({"check", "check"}, check.check)
        .add({"kernel", "kernel"}, r.kernel)
        .add({"variant", "variant"}, r.variant)
        .add({"arch", "arch"}, r.arch)
        .add({"dtype", "dtype"}, std::string(name(r.dtype)))
        .add({"head_dim", "head_dim"}, Index{r.head_dim})
        .add({"head_dim_v", "head_dim_v"}, Index{r.head_dim_v})
        .add({"figures", "figures"}, check.figures)
        .hide("repro", std::string("swa kernels --check"));
    append(table, record);
  }
  return table;
}

// The instance of the window-bounded kernel for the chapter's problem whose tile is nearest,
// compiled for the chapter's GPU where there is such a one; nothing where no GPU has one.
const Resources* nearest(const std::vector<Resources>& instances, const ChapterTile& tile) {
  const Resources* best = nullptr;
  const auto distance = [&](const Resources& r) {
    return 2 * (std::abs(r.BM - tile.BM) + std::abs(r.BN - tile.BN)) +
           (r.arch.starts_with("sm_90") ? 0 : 1);
  };
  for (const Resources& r : instances) {
    const bool fits = r.kernel == "portable-prefill" && r.variant == "plain" &&
                      r.dtype == Dtype::bf16 && r.head_dim == kHeadDim && r.head_dim_v == kHeadDim;
    if (fits && (best == nullptr || distance(r) < distance(*best))) best = &r;
  }
  return best;
}

report::Record tile_record(const std::string& kernel, const std::string& arch, int BM, int BN,
                           int smem_bytes, const std::string& mma) {
  report::Record record;
  record.add({"kernel", "kernel"}, kernel)
      .add({"arch", "arch"}, arch)
      .add({"BM", "BM"}, Index{BM})
      .add({"BN", "BN"}, Index{BN})
      .add({"smem_bytes", "shared memory B"}, Index{smem_bytes})
      .add({"mma", "MMA"}, mma);
  return record;
}

report::Table chapter_table(const std::vector<Resources>& instances) {
  report::Table table;
  table.name = "chapter";
  table.title = "The chapter's tiles (Triton, bf16, head_dim 128), and the nearest here";
  for (const ChapterTile& tile : chapter_tiles()) {
    append(table, tile_record("the chapter's", "sm_90", tile.BM, tile.BN, tile.smem_bytes,
                              fmt::format("wgmma {} {}", tile.scores, tile.values)));
    if (const Resources* r = nearest(instances, tile)) {
      std::vector<std::string> shapes;
      for (const std::string& mma : r->mma) shapes.push_back(mma_shape(mma));
      append(table, tile_record(r->kernel, r->arch, r->BM, r->BN, r->smem_bytes,
                                fmt::format("mma.sync {}", fmt::join(shapes, " "))));
    }
  }
  return table;
}

std::vector<std::string> differences() {
  const PrefillTile t = prefill_tile(kHeadDim, kHeadDim);
  const int bounds = t.BM * 8, row = t.pitch() * 2, kv_tile = 64 * kHeadDim * 2;
  return {
      fmt::format("shared memory: portable-prefill has {} B = {} B of row bounds + ({} rows of Q "
                  "+ {} slots of {} keys) x {} B,",
                  t.smem_bytes(), bounds, t.BM, t.slots, t.BN, row),
      fmt::format("  a row being {} elements and 16 B against bank conflicts; the chapter's {} and "
                  "{} B are {} and {} tiles of 64 x {}.",
                  kHeadDim, chapter_tiles()[0].smem_bytes, chapter_tiles()[1].smem_bytes,
                  chapter_tiles()[0].smem_bytes / kv_tile, chapter_tiles()[1].smem_bytes / kv_tile,
                  kHeadDim),
      "MMA: wgmma (sm_90a alone) is one instruction of four warps for 64 rows and the width of",
      "  the product, keys or head_dim. mma.sync (sm_80 and later) is one of a single warp, and "
      "its",
      "  shape is the same for both products. Both take 16-bit factors and add up in fp32."};
}

}  // namespace

const std::vector<ChapterTile>& chapter_tiles() {
  static const std::vector<ChapterTile> kTiles{
      {64, 64, 32768, "m64n64k16.f32.bf16.bf16", "m64n128k16.f32.bf16.bf16"},
      {128, 64, 65536, "m64n64k16.f32.bf16.bf16", "m64n128k16.f32.bf16.bf16"}};
  return kTiles;
}

cli::Outcome check_kernels(const std::vector<Resources>& instances) {
  const std::vector<ResourceCheck> checks = check_resources(instances);
  const auto violations = std::count_if(checks.begin(), checks.end(),
                                        [](const ResourceCheck& check) { return !check.holds; });
  const auto total = static_cast<std::int64_t>(checks.size());
  cli::Outcome outcome;
  outcome.report.schema = "swa.kernels/1";
  outcome.report.blocks = {
      report::Lines{{"A causal call and a windowed one launch the same instance of "
                     "portable-prefill: the window is an argument.",
                     "portable-mask-only has the same tile, visits every key tile and leaves the "
                     "window to the mask."}},
      check_table(checks), chapter_table(instances), report::Lines{differences()},
      report::Lines{
          {fmt::format("{} checks: {} hold, {} violated", total, total - violations, violations)}}};
  outcome.report.summary = {{"instances", static_cast<std::int64_t>(instances.size())},
                            {"checks", total},
                            {"violations", static_cast<std::int64_t>(violations)}};
  outcome.status = violations > 0 ? 1 : 0;
  return outcome;
}

}  // namespace swa::commands
