// The mask itself, pair by pair.
#include <fmt/format.h>

#include <stdexcept>

#include "figures/figures.hpp"
#include "figures/grid.hpp"

namespace swa::figures {
namespace {

using report::Fill;
using report::Ink;
using report::Style;
using report::Svg;

// Neighbouring visible keys of a row are one rectangle. Returns the number of visible pairs.
Index draw_pairs(Svg& svg, const Grid& grid, const Mask& mask) {
  Index visible = 0;
  for (Index row = 0; row < mask.n_q; ++row) {
    for (Index key = 0; key < mask.n_k; ++key) {
      const Index begin = key;
      while (sees(mask, row, key)) ++key;
      if (key > begin) svg.rect(grid.box(row, begin, key - begin));
      visible += key - begin;
    }
  }
  return visible;
}

void draw_lines(Svg& svg, const Grid& grid) {
  if (!grid.has_lines()) return;
  const report::Box first = grid.box(0, 0), last = grid.box(grid.rows - 1, grid.columns - 1);
  const double right = last.x + last.width, bottom = last.y + last.height;
  svg.open("lines", Style{Fill::none, Ink::light, 1, {}});
  for (Index row = 1; row < grid.rows; ++row) {
    const double y = grid.box(row, 0).y;
    svg.line({first.x, y}, {right, y});
  }
  for (Index column = 1; column < grid.columns; ++column) {
    const double x = grid.box(0, column).x;
    svg.line({x, first.y}, {x, bottom});
  }
  svg.close();
}

}  // namespace

std::string mask_picture(const Mask& mask) {
  const Grid grid{mask.n_q, mask.n_k};
  require_readable_mask(mask);
  const Count visible = visible_pairs(mask), all = Count{mask.n_q} * mask.n_k;
  Notes notes;
  notes.title = "Mask of " + mask_title(mask);
  notes.row_label = "query rows";
  notes.column_label = "keys";
  notes.legend = {
      {{Fill::dark, Ink::dark, 1, {}},
       fmt::format("visible: {} {}", visible, visible == 1 ? "pair" : "pairs"),
       "the query sees the key"},
      {{Fill::white, Ink::dark, 1, {}}, fmt::format("hidden: {}", all - visible), "it does not"}};
  notes.lines = mask_lines(mask);
  notes.description =
      fmt::format("A grid of {} query rows down by {} keys across. {} of {} pairs are visible.",
                  mask.n_q, mask.n_k, visible, all);
  Svg svg = begin_grid(grid, notes);
  svg.open("visible", Style{Fill::dark, Ink::none, 1, {}});
  const Index drawn = draw_pairs(svg, grid, mask);
  svg.close();
  if (drawn != visible) throw std::logic_error("the mask and its count differ");
  draw_lines(svg, grid);
  draw_frame(svg, grid);
  return svg.document();
}

}  // namespace swa::figures
