#include "commands/drawing.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "error.hpp"

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

report::Lines draw_tiles(const Mask& mask, TileShape tile) {
  const Index rows = query_tiles(mask, tile), columns = key_tiles(mask, tile);
  if (rows > kMost || columns > kMost) {
    throw UsageError(fmt::format("--show would draw {} x {} tiles, more than {} x {}", rows,
                                 columns, kMost, kMost),
                     "enlarge --BM and --BN, or ask for a shorter sequence");
  }
  report::Lines drawing;
  drawing.lines.push_back(
      fmt::format("query tiles of {} down, key tiles of {} across: F full, P "
                  "partial, . skipped",
                  tile.BM, tile.BN));
  for (Index i = 0; i < rows; ++i) {
    std::string line(static_cast<std::size_t>(2 * columns), ' ');
    for (Index t = 0; t < columns; ++t) line[static_cast<std::size_t>(2 * t + 1)] = '.';
    const TileWalk walk = tiles_of_query_tile(mask, tile, i);
    for (const TileRange& range : {walk.sinks, walk.band}) {
      for (Index t = range.begin; t < range.end; ++t) {
        line[static_cast<std::size_t>(2 * t + 1)] = letter(classify(mask, tile, i, t));
      }
    }
    drawing.lines.push_back(line);
  }
  return drawing;
}

report::Lines draw_mask(const Mask& mask) {
  if (mask.n_q > kMost || mask.n_k > kMost) {
    throw UsageError(fmt::format("--show-mask would draw {} x {} pairs, more than {} x {}",
                                 mask.n_q, mask.n_k, kMost, kMost),
                     "ask for a shorter sequence");
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
