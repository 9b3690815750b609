#include "commands/drawing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "error.hpp"
#include "terminal/size.hpp"

namespace swa::commands {
namespace {

constexpr Index kMost = 128;

char letter(TileClass kind) {
  switch (kind) {
    case TileClass::full:
      return 'F';
    case TileClass::partial:
      return 'P';
    case TileClass::empty:
      return 'E';
  }
  return '?';
}

}  // namespace

report::Lines draw_tiles(const Mask& mask, TileShape tile, Rule rule) {
  const Index rows = query_tiles(mask, tile), columns = key_tiles(mask, tile);
  if (rows > kMost || columns > kMost) {
    throw UsageError(fmt::format("--show would draw {} x {} tiles, more than {} x {}", rows,
                                 columns, kMost, kMost),
                     "enlarge --BM and --BN, or ask for a shorter sequence");
  }
  report::Lines drawing;
  drawing.lines.push_back(
      fmt::format("query tiles of {} down, key tiles of {} across: F full, P "
                  "partial, {}. skipped",
                  tile.BM, tile.BN, rule == Rule::flashinfer ? "E empty, " : ""));
  for (Index i = 0; i < rows; ++i) {
    std::string line(static_cast<std::size_t>(2 * columns), ' ');
    for (Index t = 0; t < columns; ++t) line[static_cast<std::size_t>(2 * t + 1)] = '.';
    const TileWalk walk = walk_of(mask, tile, rule, i);
    for (const TileRange& range : {walk.sinks, walk.band}) {
      for (Index t = range.begin; t < range.end; ++t) {
        line[static_cast<std::size_t>(2 * t + 1)] = letter(class_of(mask, tile, rule, i, t));
      }
    }
    drawing.lines.push_back(line);
  }
  return drawing;
}

namespace {

// Letters of a line of the mask: each takes two columns.
Index letters_that_fit() {
  const std::optional<int> columns = terminal::columns();
  return columns ? larger(8, (*columns - 1) / 2) : kMost;
}

report::Lines draw_blocks(const Mask& mask, TileShape block) {
  report::Lines drawing;
  drawing.lines.push_back(
      fmt::format("{} x {} pairs in blocks of {} x {}: x all visible, + some, . none", mask.n_q,
                  mask.n_k, block.BM, block.BN));
  for (Index i = 0; i < query_tiles(mask, block); ++i) {
    std::string line = " ";
    for (Index t = 0; t < key_tiles(mask, block); ++t) {
      const TileClass kind = classify(mask, block, i, t);
      line += kind == TileClass::full ? " x" : kind == TileClass::partial ? " +" : " .";
    }
    drawing.lines.push_back(line);
  }
  return drawing;
}

}  // namespace

report::Lines draw_mask(const Mask& mask) {
  const Index fit = letters_that_fit();
  if (mask.n_q > fit || mask.n_k > fit) {
    return draw_blocks(mask, {ceil_div(mask.n_q, fit), ceil_div(mask.n_k, fit)});
  }
  report::Lines drawing;
  std::vector<Index> keys_per_query;
  for (Index row = 0; row < mask.n_q; ++row) {
    std::string line = " ";
    for (Index key = 0; key < mask.n_k; ++key) line += sees(mask, row, key) ? " x" : " .";
    drawing.lines.push_back(line);
    keys_per_query.push_back(keys_of_row(mask, row).size());
  }
  drawing.lines.push_back(fmt::format("keys per query: [{}]", fmt::join(keys_per_query, ", ")));
  return drawing;
}

}  // namespace swa::commands
