#include "commands/tile_records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "commands/drawing.hpp"
#include "commands/problem_record.hpp"
#include "mask/conventions.hpp"

namespace swa::commands {
namespace {

using report::Show;

// Of one head, over all sequences.
struct Totals {
  TileCounts tiles;
  Count visible = 0, pairs = 0;
  Work work;
};

Totals totals_of(const Map& map) {
  const Problem& p = map.problem;
  Totals sum;
  for (const SharedMask& s : shared_masks(p)) {
    const TileCounts tiles = count_tiles(s.mask, map.tile, map.rule);
    sum.tiles += tiles * s.sequences;
    sum.visible += product(visible_pairs(s.mask), s.sequences);
    sum.pairs += Count{s.mask.n_q} * s.mask.n_k * s.sequences;
    sum.work +=
        work_of(s.mask, map.tile, tiles.visited, p.head_dim, p.value_dim(), bytes(p.dtype)) *
        static_cast<double>(s.sequences);
  }
  return sum;
}

double share(Count part, Count whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// The dtype is always named: it changes the bytes, and its default here is not that of a Problem.
std::string repro(const Map& map) {
  Problem p = map.problem;
  const std::string dtype(name(p.dtype));
  p.dtype = Problem().dtype;
  std::string line = fmt::format("swa tile-map {} --BM {} --BN {} --dtype {}", swa::options(p),
                                 map.tile.BM, map.tile.BN, dtype);
  if (map.rule != Rule::exact) line += fmt::format(" --rule {}", name(map.rule));
  return line;
}

// Which columns people see besides those of the mask.
struct Columns {
  ProblemColumns problem;
  Show rules;   // where some rule is not exact
  Show shares;  // where there is more than one row to compare
};

report::Record map_record(const Map& map, const Columns& columns) {
  const Problem& p = map.problem;
  const Totals sum = totals_of(map);
  report::Record record;
  add_mask(record, p, columns.problem);
  record.add({"rule", "rule", "", columns.rules}, std::string(name(map.rule)))
      .add({"BM", "BM"}, map.tile.BM)
      .add({"BN", "BN"}, map.tile.BN)
      .add({"full", "full"}, count_cell(sum.tiles.full))
      .add({"partial", "partial"}, count_cell(sum.tiles.partial))
      .add({"empty", "empty"}, count_cell(sum.tiles.empty))
      .add({"skipped", "skipped"}, count_cell(sum.tiles.skipped))
      .add({"visited", "visited"}, count_cell(sum.tiles.visited))
      .add({"masked", "masked", "", columns.rules}, count_cell(sum.tiles.masked))
      .add({"sparsity", "sparsity", ".2f", Show::everywhere, "%"},
           sparsity_percent(sum.pairs, map.tile, sum.tiles.visited))
      .add({"useful_fraction", "useful", ".3f"},
           useful_fraction(sum.visible, map.tile, sum.tiles.visited))
      .add({"partial_share", "partial share", ".3f", columns.shares},
           share(sum.tiles.partial, sum.tiles.visited))
      .add({"partial_max_per_query_tile", "partial/query tile"},
           count_cell(sum.tiles.partial_max_per_query_tile))
      .add({"visible_pairs", "visible pairs"}, count_cell(sum.visible))
      .hide("head_dim", p.head_dim)
      .hide("head_dim_v", p.value_dim())
      .hide("dtype", std::string(name(p.dtype)))
      .hide("useful_flops", sum.work.useful_flops)
      .hide("issued_flops", sum.work.issued_flops)
      .hide("least_bytes", sum.work.least_bytes)
      .hide("walked_bytes", sum.work.walked_bytes)
      .hide("repro", repro(map));
  return record;
}

}  // namespace

report::Table map_table(const std::vector<Map>& maps, bool show, bool show_mask) {
  std::vector<Problem> problems;
  bool rules = false;
  for (const Map& map : maps) {
    problems.push_back(map.problem);
    rules = rules || map.rule != Rule::exact;
  }
  const auto when = [](bool visible) { return visible ? Show::everywhere : Show::machine; };
  const Columns columns{ProblemColumns(problems), when(rules), when(maps.size() > 1)};
  report::Table table;
  for (const Map& map : maps) {
    report::Record record = map_record(map, columns);
    if (show) record.hide("tiles", draw_tiles(map.problem.mask(), map.tile, map.rule).lines);
    if (show_mask) record.hide("mask", draw_mask(map.problem.mask()).lines);
    append(table, record);
  }
  return table;
}

std::vector<report::Table> layer_tables(const std::vector<LayerKind>& kinds,
                                        const std::string& stack) {
  std::vector<Problem> problems;
  for (const LayerKind& kind : kinds) problems.push_back(kind.map.problem);
  const ProblemColumns columns(problems);
  report::Table by_kind, whole;
  by_kind.name = "layers";
  whole.name = "stack";
  TileCounts all;
  Count all_visible = 0;
  Index all_layers = 0;
  const auto add_counts = [](report::Record& record, const TileCounts& tiles, Count visible) {
    record.add({"full", "full"}, count_cell(tiles.full))
        .add({"partial", "partial"}, count_cell(tiles.partial))
        .add({"empty", "empty"}, count_cell(tiles.empty))
        .add({"visited", "visited"}, count_cell(tiles.visited))
        .hide("masked", count_cell(tiles.masked))
        .add({"visible_pairs", "visible pairs"}, count_cell(visible));
  };
  for (const LayerKind& kind : kinds) {
    const Totals one = totals_of(kind.map);
    const TileCounts tiles = one.tiles * kind.layers;
    const Count visible = product(one.visible, kind.layers);
    all += tiles;
    all_visible += visible;
    all_layers += kind.layers;
    report::Record record;
    record.add({"kind", "layers of kind"}, kind.word).add({"layers", "layers"}, kind.layers);
    add_mask(record, kind.map.problem, columns);
    record.hide("rule", std::string(name(kind.map.rule)))
        .add({"BM", "BM"}, kind.map.tile.BM)
        .add({"BN", "BN"}, kind.map.tile.BN);
    add_counts(record, tiles, visible);
    record.hide("stack", stack).hide("repro", repro(kind.map));
    append(by_kind, record);
  }
  report::Record sum;
  sum.add({"stack", "stack"}, stack).add({"layers", "layers"}, all_layers);
  add_counts(sum, all, all_visible);
  append(whole, sum);
  return {by_kind, whole};
}

report::Table convention_table(const Mask& mask) {
  const auto text = [](const std::string& words) {
    return words.empty() ? report::Value() : report::Value(words);
  };
  report::Table table;
  table.name = "convention";
  for (const Phrase& phrase : phrases(mask)) {
    report::Record record;
    record.add({"system", "system"}, phrase.system)
        .add({"call", "pass"}, text(phrase.call))
        .add({"spec", "--mask"}, text(phrase.spec))
        .add({"reason", "why not", "", Show::everywhere, "", ""}, text(phrase.reason));
    append(table, record);
  }
  return table;
}

}  // namespace swa::commands
