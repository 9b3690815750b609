// The tiles of a mask: which are visited, and which of these need the mask.
#include <fmt/format.h>

#include <array>

#include "figures/figures.hpp"
#include "figures/grid.hpp"

namespace swa::figures {
namespace {

using report::Fill;
using report::Ink;
using report::Style;
using report::Svg;

struct Cell {
  Index row, column;
};

// The visited tiles by class; what is in none of the lists is skipped.
struct Tiles {
  std::vector<Cell> full, partial, empty;

  Tiles(const Mask& mask, TileShape tile, Rule rule) {
    for (Index i = 0; i < query_tiles(mask, tile); ++i) {
      const TileWalk walk = walk_of(mask, tile, rule, i);
      for (const TileRange& range : {walk.sinks, walk.band}) {
        for (Index t = range.begin; t < range.end; ++t) {
          of(class_of(mask, tile, rule, i, t)).push_back({i, t});
        }
      }
    }
  }

  std::vector<Cell>& of(TileClass kind) {
    if (kind == TileClass::full) return full;
    return kind == TileClass::partial ? partial : empty;
  }
  std::size_t visited() const { return full.size() + partial.size() + empty.size(); }
};

// Patterns need room; where cells are small, shades stand in for them.
struct Styles {
  Style full, partial, empty, skipped;

  explicit Styles(const Grid& grid) {
    const bool lines = grid.has_lines(), patterns = grid.has_patterns();
    const Ink thin = lines ? Ink::white : Ink::none;
    const Ink ink = patterns ? Ink::dark : thin;
    full = {Fill::dark, thin, 1, {}};
    partial = {patterns ? Fill::hatched : Fill::grey, ink, 1, {}};
    empty = {patterns ? Fill::crossed : Fill::light, ink, 1, {}};
    skipped = {Fill::white, lines ? Ink::light : Ink::none, 1, {}};
  }
};

void draw_cells(Svg& svg, const Grid& grid, const char* name, const Style& style,
                const std::vector<Cell>& cells) {
  if (cells.empty()) return;
  svg.open(name, style);
  for (const Cell& cell : cells) svg.rect(grid.box(cell.row, cell.column));
  svg.close();
}

void draw_skipped(Svg& svg, const Grid& grid, const Style& style) {
  if (!grid.has_lines()) return;  // the page is white already
  svg.open("grid", style);
  for (Index row = 0; row < grid.rows; ++row) {
    for (Index column = 0; column < grid.columns; ++column) svg.rect(grid.box(row, column));
  }
  svg.close();
}

std::string counted(const char* name, std::size_t count) {
  return fmt::format("{}: {} {}", name, count, count == 1 ? "tile" : "tiles");
}

// A swatch has an outline, whatever its cells have.
LegendEntry entry(Style style, std::string name, std::string meaning) {
  style.ink = Ink::dark;
  return {style, std::move(name), std::move(meaning)};
}

Notes notes_of(const Mask& mask, TileShape tile, Rule rule, const Grid& grid, const Tiles& tiles,
               const Styles& styles) {
  const auto all = static_cast<std::size_t>(grid.rows * grid.columns);
  Notes notes;
  notes.title = "Tiles of " + mask_title(mask);
  notes.row_label = fmt::format("query tiles, BM = {} rows each", tile.BM);
  notes.column_label = fmt::format("key tiles, BN = {} keys each", tile.BN);
  notes.legend = {
      entry(styles.full, counted("FULL", tiles.full.size()), "all pairs visible: no mask"),
      entry(styles.partial, counted("PARTIAL", tiles.partial.size()), "some pairs: mask needed"),
      entry(styles.skipped, counted("skipped", all - tiles.visited()), "outside the loop bounds")};
  if (!tiles.empty.empty()) {
    notes.legend.insert(
        notes.legend.end() - 1,
        entry(styles.empty, counted("EMPTY", tiles.empty.size()), "visited, nothing visible"));
  }
  notes.lines = mask_lines(mask);
  if (rule != Rule::exact) notes.lines.push_back(fmt::format("loop bounds: {}", name(rule)));
  notes.lines.push_back(fmt::format("{} of {} tiles visited", tiles.visited(), all));
  notes.description = fmt::format(
      "A grid of {} query tiles down by {} key tiles across. {} tiles are FULL, {} PARTIAL, {} "
      "visited and EMPTY, {} skipped.",
      grid.rows, grid.columns, tiles.full.size(), tiles.partial.size(), tiles.empty.size(),
      all - tiles.visited());
  return notes;
}

}  // namespace

std::string tile_grid(const Mask& mask, TileShape tile, Rule rule) {
  const Grid grid{query_tiles(mask, tile), key_tiles(mask, tile)};
  require_readable(grid, "tiles", "enlarge --BM and --BN, or ask for a shorter sequence");
  const Tiles tiles(mask, tile, rule);
  const Styles styles(grid);
  Svg svg = begin_grid(grid, notes_of(mask, tile, rule, grid, tiles, styles));
  draw_skipped(svg, grid, styles.skipped);
  draw_cells(svg, grid, "empty", styles.empty, tiles.empty);
  draw_cells(svg, grid, "full", styles.full, tiles.full);
  draw_cells(svg, grid, "partial", styles.partial, tiles.partial);
  draw_frame(svg, grid);
  return svg.document();
}

}  // namespace swa::figures
