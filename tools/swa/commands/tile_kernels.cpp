#include "commands/tile_kernels.hpp"

#include <fmt/format.h>

#include <string>

#include "commands/bench_plan.hpp"
#include "commands/choose.hpp"
#include "commands/problem_record.hpp"
#include "error.hpp"
#include "problem/sweep.hpp"
#include "verify/kernel.hpp"

namespace swa::commands {
namespace {

// cpu-tiled, which has no grid: one head a tile, as verify and bench run it.
LaunchPlan cpu_plan(const Problem& p) {
  constexpr TileShape kTile;
  LaunchPlan plan;
  plan.kernel = "cpu-tiled";
  plan.reason = "the tile of verify and bench where --BM and --BN are left out";
  plan.BM = plan.positions = kTile.BM;
  plan.BN = kTile.BN;
  plan.heads = plan.packed = 1;
  for (const SharedMask& s : shared_masks(p))
    plan.tiles += count_tiles(s.mask, kTile) * s.sequences;
  plan.issued_pairs = static_cast<double>(plan.tiles.visited) * static_cast<double>(p.heads_q) *
                      static_cast<double>(kTile.BM) * static_cast<double>(kTile.BN);
  return plan;
}

std::vector<LaunchPlan> all_plans(const Problem& p) {
  std::vector<LaunchPlan> plans = launch_plans(p, kHopper);
  std::erase_if(plans, [](const LaunchPlan& plan) { return plan.keeps_band; });
  plans.push_back(cpu_plan(p));
  return plans;
}

// Pairs of the whole grid and pairs that are visible, of one head, and what it costs.
struct OneHead {
  Count pairs = 0, visible = 0;
  Work work;
};

OneHead one_head_of(const Problem& p, const LaunchPlan& plan) {
  OneHead sum;
  for (const SharedMask& s : shared_masks(p)) {
    sum.pairs += Count{s.mask.n_q} * s.mask.n_k * s.sequences;
    sum.visible += product(visible_pairs(s.mask), s.sequences);
    sum.work += work_of(s.mask, {}, 0, p.head_dim, p.value_dim(), bytes(p.dtype)) *
                static_cast<double>(s.sequences);
  }
  if (plan.unsupported) return sum;
  const double dims = static_cast<double>(p.head_dim + p.value_dim());
  sum.work.issued_flops = 2 * dims * plan.issued_pairs / static_cast<double>(p.heads_q);
  // The heads of a tile read K and V together.
  sum.work.walked_bytes += static_cast<double>(plan.tiles.visited) /
                           static_cast<double>(plan.packed) * static_cast<double>(plan.BN) * dims *
                           static_cast<double>(bytes(p.dtype));
  return sum;
}

void add_counts(report::Record& record, const Problem& p, const LaunchPlan& plan) {
  const TileCounts& tiles = plan.tiles;
  const OneHead head = one_head_of(p, plan);
  const auto known = [&](report::Value value) {
    return plan.unsupported ? report::Value() : std::move(value);
  };
  const double grid = static_cast<double>(head.pairs) * static_cast<double>(p.heads_q);
  // Each warp of portable-prefill decides for its own rows which tiles it masks.
  const bool by_warp = plan.kernel == "portable-prefill";
  const Count masked = plan.kernel == "cpu-tiled" ? tiles.partial : tiles.masked;
  record.add({"full", "full"}, known(count_cell(tiles.full)))
      .add({"partial", "partial"}, known(count_cell(tiles.partial)))
      .add({"empty", "empty"}, known(count_cell(tiles.empty)))
      .add({"skipped", "skipped"}, known(count_cell(tiles.skipped)))
      .add({"visited", "visited"}, known(count_cell(tiles.visited)))
      .hide("masked", by_warp ? report::Value() : known(count_cell(masked)))
      .add({"sparsity", "sparsity", ".2f", report::Show::everywhere, "%"},
           known(grid == 0 ? 0.0 : 100 * (1 - plan.issued_pairs / grid)))
      .hide("partial_share", known(tiles.visited == 0 ? 0.0
                                                      : static_cast<double>(tiles.partial) /
                                                            static_cast<double>(tiles.visited)))
      .hide("partial_max_per_query_tile", known(count_cell(tiles.partial_max_per_query_tile)))
      .add({"visible_pairs", "visible pairs"}, count_cell(head.visible))
      .hide("useful_flops", head.work.useful_flops)
      .hide("issued_flops", known(head.work.issued_flops))
      .hide("least_bytes", head.work.least_bytes)
      .hide("walked_bytes", known(head.work.walked_bytes));
}

report::Record record_of(const Problem& p, const ProblemColumns& columns, const LaunchPlan& plan) {
  Problem without_type = p;
  without_type.dtype = Problem().dtype;
  report::Record record;
  record.add({"kernel", "kernel"}, plan.kernel);
  add_mask(record, p, columns);
  add_rest(record, p, columns);
  add_launch(record, plan);
  add_counts(record, p, plan);
  add_reason(record, p, plan, kHopper);
  const std::string repro = fmt::format("swa tile-map {} --kernel {} --dtype {}",
                                        swa::options(without_type), plan.kernel, name(p.dtype));
  record.hide("repro", plan.unsupported ? report::Value() : report::Value(repro));
  return record;
}

}  // namespace

std::vector<std::variant<report::Lines, report::Table>> kernel_tiles(
    const std::vector<Problem>& problems, const cli::Option& kernel, std::size_t most) {
  std::vector<std::string> names;
  for (const LaunchPlan& plan : all_plans(problems.front())) names.push_back(plan.kernel);
  const std::vector<std::size_t> chosen = choose_names(
      kernel, names, "the tiles of none of that name are known", "leave --kernel out, or say *");
  if (problems.size() * chosen.size() > most) {
    throw UsageError(fmt::format("the sweep has more than {} maps", most),
                     "shorten a list, or run it in parts");
  }
  require_size_of_sweep(problems.size() * chosen.size(), problems.front());
  const ProblemColumns columns(problems);
  report::Table table;
  bool any = false;
  std::string refusal;  // of the first that was asked for
  for (const Problem& p : problems) {
    const std::vector<LaunchPlan> plans = all_plans(p);
    for (const std::size_t i : chosen) {
      const LaunchPlan& plan = plans[i];
      any = any || !plan.unsupported;
      if (plan.unsupported && refusal.empty()) {
        refusal = fmt::format("{} {}: the kernel {}", kernel.name, plan.kernel, *plan.unsupported);
      }
      append(table, record_of(p, columns, plan));
    }
  }
  if (!any)
    throw UsageError(refusal, "swa bench --plan says of all kernels which support a problem");
  return {plan_heading(kHopper), table};
}

}  // namespace swa::commands
