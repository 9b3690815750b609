#include "commands/kernels_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "chapter/compile_check.hpp"
#include "kernels/resources/checks.hpp"
#include "mask/window.hpp"

namespace swa::commands {
namespace {

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
  for (const chapter::CompiledTile& tile : chapter::compiled_tiles()) {
    append(table, tile_record("the chapter's", "sm_90", tile.BM, tile.BN, tile.smem_bytes,
                              fmt::format("wgmma {} {}", tile.scores, tile.values)));
    if (const Resources* r = chapter::nearest(instances, tile)) {
      append(table,
             tile_record(r->kernel, r->arch, r->BM, r->BN, r->smem_bytes, chapter::mma_words(*r)));
    }
  }
  return table;
}

std::vector<std::string> differences() {
  std::vector<std::string> lines = chapter::why_shared_memory_differs();
  const std::vector<std::string> mma = chapter::why_mma_differs();
  lines.insert(lines.end(), mma.begin(), mma.end());
  return lines;
}

}  // namespace

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
