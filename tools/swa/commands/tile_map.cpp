// swa tile-map: which tiles a windowed kernel visits, and how many are wasted.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "commands/commands.hpp"
#include "commands/drawing.hpp"
#include "commands/problem_record.hpp"
#include "commands/tile_kernels.hpp"
#include "commands/tile_map_options.hpp"
#include "error.hpp"
#include "figures/figures.hpp"
#include "model/model.hpp"

namespace swa::commands {
namespace {

Index first_dependence_of(const std::string& stack, const Problem& p) {
  try {
    return first_dependence(stack, p.window.width, p.n_k);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--reach {}: {}", stack, error.what()), error.remedy());
  }
}

// How far back a stack of layers depends, for a window and a length.
report::Table reach_table(const TileMapRequest& request) {
  report::Table table;
  table.name = "reach";
  for (const Problem& p : request.problems) {
    const Index first = first_dependence_of(request.reach, p);
    report::Record record;
    record.add({"stack", "stack"}, request.reach)
        .add({"window", "W"}, p.window.width)
        .add({"n", "n"}, p.n_k)
        .add({"first_dependence", "last token depends on positions >="}, first)
        .add({"span", "span"}, p.n_k - first)
        .hide("repro", fmt::format("swa tile-map --reach {} --W {} --nq {}", request.reach,
                                   p.window.width, p.n_q));
    append(table, record);
  }
  return table;
}

std::string figure_of(const TileMapRequest& request) {
  std::vector<TileShape> tiles;
  for (const Map& map : request.maps) {
    const auto same = [&](const TileShape& t) {
      return t.BM == map.tile.BM && t.BN == map.tile.BN;
    };
    if (std::none_of(tiles.begin(), tiles.end(), same)) tiles.push_back(map.tile);
  }
  return figures::tile_map(request.problems, tiles, request.maps.front().rule, request.show_mask);
}

cli::Outcome run(const TileMapRequest& request) {
  cli::Outcome outcome;
  outcome.report.schema = "swa.tile-map/1";
  if (request.figure) outcome.figure = figure_of(request);
  auto& blocks = outcome.report.blocks;
  if (request.problems.size() == 1) {
    blocks.push_back(describe_problem(request.problems.front(), 0));
  }
  if (!request.reach.empty()) {
    blocks.push_back(reach_table(request));
  } else if (request.conventions) {
    if (!request.sized) {
      blocks.push_back(report::Lines{
          {"n_q = n_k is assumed; give --nq and --nk for a prefill chunk or a decode step"}});
    }
    blocks.push_back(convention_table(request.problems.front().mask()));
  } else if (request.kernel != nullptr) {
    for (auto& block : kernel_tiles(request.problems, *request.kernel, kMaxMaps)) {
      blocks.push_back(std::move(block));
    }
  } else if (!request.layers.empty()) {
    for (report::Table& table : layer_tables(request.kinds, request.layers)) {
      blocks.push_back(std::move(table));
    }
  } else {
    blocks.push_back(map_table(request.maps, request.show, request.show_mask));
    for (const Problem& p : request.problems) {
      if (request.show_mask) blocks.push_back(draw_mask(p.mask()));
    }
    for (const Map& map : request.maps) {
      if (request.show) blocks.push_back(draw_tiles(map.problem.mask(), map.tile, map.rule));
    }
  }
  return outcome;
}

}  // namespace

std::unique_ptr<cli::Command> tile_map(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "tile-map", "which tiles a windowed kernel visits, and how many need a mask",
      "swa tile-map --nq 192 --W 40 --BM 16 --BN 16 --show");
  const auto options = std::make_shared<TileMapOptions>(*command);
  command->add_figure(
      "the tiles, with --show-mask the mask, of a list of --W the share of PARTIAL tiles");
  command->on_run(
      [options, self = command.get()] { return run(options->read(self->wants_figure())); });
  return command;
}

}  // namespace swa::commands
