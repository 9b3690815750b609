#include "figures/grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "error.hpp"

namespace swa::figures {
namespace {

using report::Align;
using report::Fill;
using report::Ink;
using report::Point;
using report::Style;
using report::Svg;

constexpr double kLeft = 84, kTop = 96, kMostSide = 512, kMostCell = 40;
constexpr double kGap = 36, kTextWidth = 228, kMargin = 24;
constexpr double kEntry = 48, kLine = 20;

double side(double cell, Index cells) {
  return cell * static_cast<double>(cells);
}

// Every how many cells one is numbered, so that the numbers keep their distance.
Index number_step(double cell) {
  for (Index decade = 1;; decade *= 10) {
    for (const Index step : {decade, 2 * decade, 5 * decade}) {
      if (static_cast<double>(step) * cell >= 24) return step;
    }
  }
}

void draw_numbers(Svg& svg, const Grid& grid) {
  const double cell = grid.cell();
  const Index step = number_step(cell);
  svg.open("row-numbers");
  for (Index row = 0; row < grid.rows; row += step) {
    svg.text({kLeft - 8, kTop + side(cell, row) + cell / 2 + 4}, fmt::format("{}", row),
             {.size = 12, .align = Align::end});
  }
  svg.close();
  svg.open("column-numbers");
  for (Index column = 0; column < grid.columns; column += step) {
    svg.text({kLeft + side(cell, column) + cell / 2, kTop - 8}, fmt::format("{}", column),
             {.size = 12, .align = Align::middle});
  }
  svg.close();
}

double text_height(const Notes& notes) {
  return static_cast<double>(notes.legend.size()) * kEntry + 8 +
         static_cast<double>(notes.lines.size()) * kLine;
}

void draw_text(Svg& svg, double x, const Notes& notes) {
  double y = kTop;
  svg.open("legend");
  for (const LegendEntry& entry : notes.legend) {
    svg.rect({x, y, 26, 26}, entry.swatch);
    svg.text({x + 38, y + 11}, entry.name, {.size = 13, .bold = true});
    svg.text({x + 38, y + 28}, entry.meaning, {.size = 12});
    y += kEntry;
  }
  svg.close();
  y += 8 + 10;
  for (const std::string& line : notes.lines) {
    svg.text({x, y}, line, {.size = 13});
    y += kLine;
  }
}

}  // namespace

double Grid::cell() const {
  const double cell = kMostSide / static_cast<double>(std::max(rows, columns));
  return std::min(kMostCell, std::floor(cell));
}

report::Box Grid::box(Index row, Index column, Index width) const {
  return {kLeft + side(cell(), column), kTop + side(cell(), row), side(cell(), width), cell()};
}

void require_readable(const Grid& grid, const std::string& what, const std::string& remedy) {
  if (grid.rows <= kMostCells && grid.columns <= kMostCells) return;
  throw UsageError(
      fmt::format("a figure of {} x {} {} would not be readable: it holds at most {} x {}",
                  grid.rows, grid.columns, what, kMostCells, kMostCells),
      remedy);
}

Svg begin_grid(const Grid& grid, const Notes& notes) {
  const double width = side(grid.cell(), grid.columns), height = side(grid.cell(), grid.rows);
  const double title = report::text_width(notes.title, 15) + kMargin;
  const double text_x = kLeft + std::max(width, 120.0) + kGap;
  Svg svg(std::max(text_x + kTextWidth + kMargin, title + kMargin),
          kTop + std::max({height, text_height(notes), 120.0}) + kMargin, notes.title,
          notes.description);
  svg.text({kMargin, 30}, notes.title, {.size = 15, .bold = true});
  svg.text({kLeft, kTop - 30}, notes.column_label, {.size = 13});
  svg.text({30, kTop}, notes.row_label, {.size = 13, .align = Align::end, .upright = false});
  draw_numbers(svg, grid);
  draw_text(svg, text_x, notes);
  return svg;
}

void draw_frame(Svg& svg, const Grid& grid) {
  const report::Box first = grid.box(0, 0);
  svg.rect({first.x, first.y, side(grid.cell(), grid.columns), side(grid.cell(), grid.rows)},
           Style{Fill::none, Ink::dark, 1.2, {}});
}

std::string mask_title(const Mask& mask) {
  switch (mask.window.kind) {
    case Window::Kind::global:
      return "causal attention";
    case Window::Kind::causal:
      return "causal sliding-window attention";
    case Window::Kind::band:
      return "attention in a band";
    case Window::Kind::chunked:
      return "causal attention in chunks";
  }
  return {};
}

std::vector<std::string> mask_lines(const Mask& mask) {
  const auto reach = [](const Side& bound) {
    return bound.bounded ? fmt::format("{}", bound.reach) : std::string("unbounded");
  };
  std::vector<std::string> lines{fmt::format("n_q = {}, n_k = {}", mask.n_q, mask.n_k)};
  if (mask.window.kind == Window::Kind::causal) {
    lines.push_back(fmt::format("W = {}", mask.window.width));
  } else if (mask.window.kind == Window::Kind::band) {
    lines.push_back(
        fmt::format("left {}, right {}", reach(mask.window.left), reach(mask.window.right)));
  } else if (mask.window.kind == Window::Kind::chunked) {
    lines.push_back(fmt::format("C = {}", mask.window.width));
  } else {
    lines.push_back("no window");
  }
  if (mask.sinks > 0) lines.push_back(fmt::format("{} sink tokens", mask.sinks));
  if (mask.n_q != mask.n_k) {
    lines.push_back(fmt::format("query row 0 at position {}", mask.q_offset));
  }
  return lines;
}

}  // namespace swa::figures
