// swa tile-map: which tiles a windowed kernel visits, and how many are wasted.
#include "tiles/tiles.hpp"

#include <fmt/format.h>

#include "cli/problem_options.hpp"
#include "cli/values.hpp"
#include "commands/commands.hpp"
#include "commands/drawing.hpp"
#include "commands/problem_record.hpp"
#include "error.hpp"
#include "figures/figures.hpp"
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
  bool figure = false;
  std::string reach;  // a stack such as LLLG; empty: none
};

// The dtype is always named: it changes the bytes, and its default here is not that of a Problem.
std::string repro(Problem p, TileShape tile) {
  const std::string dtype(name(p.dtype));
  p.dtype = Problem().dtype;
  return fmt::format("swa tile-map {} --BM {} --BN {} --dtype {}", swa::options(p), tile.BM,
                     tile.BN, dtype);
}

report::Record map_record(const Problem& p, TileShape tile, const Options& options,
                          const ProblemColumns& columns) {
  const Mask mask = p.mask();
  const Index visible = visible_pairs(mask);
  const TileCounts counts = count_tiles(mask, tile);
  const Work work = work_of(mask, tile, counts.visited, p.head_dim, p.head_dim, bytes(p.dtype));
  report::Record record;
  add_mask(record, p, columns);
  record.add({"BM", "BM"}, tile.BM)
      .add({"BN", "BN"}, tile.BN)
      .add({"full", "full"}, counts.full)
      .add({"partial", "partial"}, counts.partial)
      .add({"empty", "empty"}, counts.empty)
      .add({"skipped", "skipped"}, counts.skipped)
      .add({"visited", "visited"}, counts.visited)
      .add({"sparsity", "sparsity", ".2f", report::Show::everywhere, "%"},
           sparsity_percent(mask, tile, counts.visited))
      .add({"useful_fraction", "useful", ".3f"}, useful_fraction(visible, tile, counts.visited))
      .add({"partial_max_per_query_tile", "partial/query tile"}, counts.partial_max_per_query_tile)
      .add({"visible_pairs", "visible pairs"}, visible)
      .hide("head_dim", p.head_dim)
      .hide("dtype", std::string(name(p.dtype)))
      .hide("useful_flops", work.useful_flops)
      .hide("issued_flops", work.issued_flops)
      .hide("least_bytes", work.least_bytes)
      .hide("walked_bytes", work.walked_bytes)
      .hide("repro", repro(p, tile));
  if (options.show) record.hide("tiles", draw_tiles(mask, tile).lines);
  if (options.show_mask) record.hide("mask", draw_mask(mask).lines);
  return record;
}

report::Table map_table(const Options& options) {
  const ProblemColumns columns(options.problems);
  report::Table table;
  for (const Problem& p : options.problems) {
    for (const TileShape& tile : options.tiles)
      append(table, map_record(p, tile, options, columns));
  }
  return table;
}

Index first_dependence_of(const std::string& stack, const Problem& p) {
  try {
    return first_dependence(stack, p.window.width, p.n_k);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--reach {}: {}", stack, error.what()), error.remedy());
  }
}

// How far back a stack of layers depends, for a window and a length.
report::Table reach_table(const Options& options) {
  report::Table table;
  table.name = "reach";
  for (const Problem& p : options.problems) {
    const Index first = first_dependence_of(options.reach, p);
    report::Record record;
    record.add({"stack", "stack"}, options.reach)
        .add({"window", "W"}, p.window.width)
        .add({"n", "n"}, p.n_k)
        .add({"first_dependence", "last token depends on positions >="}, first)
        .add({"span", "span"}, p.n_k - first)
        .hide("repro", fmt::format("swa tile-map --reach {} --W {} --nq {}", options.reach,
                                   p.window.width, p.n_q));
    append(table, record);
  }
  return table;
}

cli::Outcome run(const Options& options) {
  cli::Outcome outcome;
  outcome.report.schema = "swa.tile-map/1";
  if (options.figure) {
    outcome.figure = figures::tile_map(options.problems, options.tiles, options.show_mask);
  }
  auto& blocks = outcome.report.blocks;
  if (options.problems.size() == 1) {
    const Problem& p = options.problems.front();
    blocks.push_back(report::Lines{{"mask: " + describe(p.mask())}});
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
  command->add_figure(
      "the tiles, with --show-mask the mask, of a list of --W the share of PARTIAL tiles");
  const cli::Command* const self = command.get();
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
    options.figure = self->wants_figure();
    if (reach.given()) {
      if (options.figure) throw UsageError("--reach has no figure", "leave the .svg out");
      if (reach.text.empty()) throw UsageError("--reach has no value", "such as --reach LLLG");
      for (const cli::Option* other : {&BM, &BN, &head_dim, &dtype, &show, &show_mask}) {
        if (other->given()) {
          throw UsageError(
              fmt::format("{} means nothing to --reach, which has no tiles", other->name),
              "it takes --W and the length of one sequence, --nq");
        }
      }
      for (const Problem& p : options.problems) {
        if (p.window.kind != Window::Kind::causal || p.sinks > 0 || p.n_q != p.n_k ||
            p.anchor != Anchor::bottom_right) {
          throw UsageError("--reach needs one causal window, --W, over one sequence",
                           "such as --reach LLLG --W 4 --nq 64");
        }
      }
      options.reach = reach.text;
    }
    return run(options);
  });
  return command;
}

}  // namespace swa::commands
