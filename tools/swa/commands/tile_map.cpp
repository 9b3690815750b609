// swa tile-map: which tiles a windowed kernel visits, and how many are wasted.
#include "tiles/tiles.hpp"

#include <fmt/format.h>

#include "cli/problem_options.hpp"
#include "cli/values.hpp"
#include "commands/commands.hpp"
#include "commands/drawing.hpp"
#include "error.hpp"
#include "mask/conventions.hpp"
#include "model/model.hpp"
#include "problem/problem.hpp"

namespace swa::commands {
namespace {

constexpr std::size_t kMaxMaps = 100'000;

struct Options {
  std::vector<Problem> problems;
  std::vector<TileShape> tiles;
  bool show = false, show_mask = false;
  std::string reach;  // a stack such as LLLG; empty: none
};

// W, left and right of a window as cells of a row; null where it has none.
report::Value width_cell(const Window& window) {
  return window.kind == Window::Kind::causal ? report::Value(window.width) : report::Value();
}
report::Value side_cell(const Side& side) {
  return side.bounded ? report::Value(side.reach) : report::Value();
}

// The dtype is always named: it changes the bytes, and its default here is not that of a Problem.
std::string repro(Problem p, TileShape tile) {
  const std::string dtype(name(p.dtype));
  p.dtype = Problem().dtype;
  return fmt::format("swa tile-map {} --BM {} --BN {} --dtype {}", swa::options(p), tile.BM,
                     tile.BN, dtype);
}

report::Table map_table(const Options& options) {
  const auto machine = report::Show::machine;
  bool any_sinks = false;
  for (const Problem& p : options.problems) any_sinks = any_sinks || p.sinks > 0;
  report::Table table;
  table.columns = {{"n_q", "n_q"},
                   {"n_k", "n_k"},
                   {"window", "W"},
                   report::machine_column("left"),
                   report::machine_column("right"),
                   {"sinks", "sinks", "", any_sinks ? report::Show::everywhere : machine, ""},
                   report::machine_column("anchor"),
                   {"BM", "BM"},
                   {"BN", "BN"},
                   {"full", "full"},
                   {"partial", "partial"},
                   {"empty", "empty"},
                   {"skipped", "skipped"},
                   {"visited", "visited"},
                   {"sparsity", "sparsity", ".2f", report::Show::everywhere, "%"},
                   {"useful_fraction", "useful", ".3f"},
                   {"partial_max_per_query_tile", "partial/query tile"},
                   {"visible_pairs", "visible pairs"},
                   report::machine_column("head_dim"),
                   report::machine_column("dtype"),
                   report::machine_column("useful_flops"),
                   report::machine_column("issued_flops"),
                   report::machine_column("least_bytes"),
                   report::machine_column("walked_bytes"),
                   report::machine_column("repro")};
  for (const Problem& p : options.problems) {
    for (const TileShape& tile : options.tiles) {
      const Mask mask = p.mask();
      const TileCounts counts = count_tiles(mask, tile);
      const Index visible = visible_pairs(mask);
      const Work work = work_of(mask, tile, counts.visited, p.head_dim, p.head_dim, bytes(p.dtype));
      table.rows.push_back({p.n_q,
                            p.n_k,
                            width_cell(p.window),
                            side_cell(p.window.reach_left()),
                            side_cell(p.window.reach_right()),
                            p.sinks,
                            std::string(p.anchor == Anchor::top_left ? "top-left" : "bottom-right"),
                            tile.BM,
                            tile.BN,
                            counts.full,
                            counts.partial,
                            counts.empty,
                            counts.skipped,
                            counts.visited,
                            sparsity_percent(mask, tile, counts.visited),
                            useful_fraction(visible, tile, counts.visited),
                            counts.partial_max_per_query_tile,
                            visible,
                            p.head_dim,
                            std::string(name(p.dtype)),
                            work.useful_flops,
                            work.issued_flops,
                            work.least_bytes,
                            work.walked_bytes,
                            repro(p, tile)});
    }
  }
  return table;
}

// How far back a stack of layers depends, for a window and a length.
report::Table reach_table(const Options& options) {
  report::Table table;
  table.name = "reach";
  table.columns = {{"stack", "stack"},
                   {"window", "W"},
                   {"n", "n"},
                   {"first_dependence", "last token depends on positions >="},
                   {"span", "span"}};
  for (const Problem& p : options.problems) {
    if (p.window.kind == Window::Kind::band || p.sinks > 0 || p.n_q != p.n_k) {
      throw UsageError("--reach takes a causal window over one sequence",
                       "give --nq and --W alone");
    }
    const bool local = p.window.kind == Window::Kind::causal;
    const Index first = first_dependence(options.reach, local ? p.window.width : p.n_k, p.n_k);
    table.rows.push_back({options.reach, width_cell(p.window), p.n_k, first, p.n_k - first});
  }
  return table;
}

cli::Outcome run(const Options& options) {
  cli::Outcome outcome;
  outcome.report.schema = "swa.tile-map/1";
  auto& blocks = outcome.report.blocks;
  if (options.problems.size() == 1) {
    const Problem& p = options.problems.front();
    blocks.push_back(report::Lines{{"mask: " + describe(p.window, p.sinks)}});
  }
  if (!options.reach.empty()) {
    blocks.push_back(reach_table(options));
    return outcome;
  }
  blocks.push_back(map_table(options));
  for (const Problem& p : options.problems) {
    if (options.show_mask) blocks.push_back(draw_mask(p.mask()));
    if (!options.show) continue;
    for (const TileShape& tile : options.tiles) blocks.push_back(draw_tiles(p.mask(), tile));
  }
  return outcome;
}

std::vector<TileShape> shapes(const std::vector<Index>& BMs, const std::vector<Index>& BNs) {
  std::vector<TileShape> tiles;
  for (const Index BM : BMs) {
    for (const Index BN : BNs) tiles.push_back({BM, BN});
  }
  return tiles;
}

}  // namespace

std::unique_ptr<cli::Command> tile_map(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "tile-map", "which tiles a windowed kernel visits, and how many need a mask",
      "swa tile-map --nq 192 --W 40 --BM 16 --BN 16 --show");
  const auto sizes = std::make_shared<cli::SizeOptions>(*command);
  const auto masks = std::make_shared<cli::MaskOptions>(*command);
  const cli::Option& BM = command->add("BM", "128");
  const cli::Option& BN = command->add("BN", "128");
  const cli::Option& head_dim = command->add("head_dim", "64");
  const cli::Option& dtype =
      command->add("dtype", "bf16", "type of the elements, for the bytes of JSON");
  const cli::Option& show = command->add_flag("--show", "draw the tiles");
  const cli::Option& show_mask =
      command->add_flag("--show-mask", "draw the mask, and count the keys of each query");
  const cli::Option& reach = command->add_other(
      "--reach", "", "a stack of layers such as LLLG: how far back its last token depends");
  command->on_run([=, &BM, &BN, &head_dim, &dtype, &show, &show_mask, &reach] {
    Sweep sweep;
    sizes->read(sweep);
    sweep.windows = masks->windows();
    sweep.sinks = masks->sinks();
    sweep.base.anchor = masks->anchor();
    sweep.base.head_dim = cli::parse_count(head_dim.name, head_dim.text, {1, 1 << 20});
    sweep.base.dtype = *parse_dtype(cli::parse_choice(
        dtype.name, dtype.text, {"fp64", "fp32", "bf16", "fp16", "fp8_e4m3", "fp8_e5m2"}));
    Options options;
    options.problems = expand(sweep);
    options.tiles =
        shapes(cli::parse_counts(BM.name, BM.text), cli::parse_counts(BN.name, BN.text));
    if (options.problems.size() > kMaxMaps / options.tiles.size()) {
      throw UsageError(fmt::format("the sweep has more than {} maps", kMaxMaps),
                       "shorten a list, or run it in parts");
    }
    options.show = show.given();
    options.show_mask = show_mask.given();
    if (reach.given()) {
      if (reach.text.empty()) throw UsageError("--reach has no value", "such as --reach LLLG");
      if (options.show || options.show_mask || BM.given() || BN.given()) {
        throw UsageError("--reach has no tiles", "leave --show, --show-mask, --BM and --BN out");
      }
      options.reach = reach.text;
    }
    return run(options);
  });
  return command;
}

}  // namespace swa::commands
