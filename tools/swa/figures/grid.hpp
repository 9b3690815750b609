// What the pictures with query rows down and keys across share: the frame and the legend.
#pragma once

#include <string>
#include <vector>

#include "mask/window.hpp"
#include "report/svg.hpp"

namespace swa::figures {

inline constexpr Index kMostCells = 256;  // a side

// A grid of square cells beside a column of text.
struct Grid {
  Index rows = 0, columns = 0;

  double cell() const;
  report::Box box(Index row, Index column, Index width = 1) const;
  // Whether cells are large enough for lines around them, and for patterns.
  bool has_lines() const { return cell() >= 6; }
  bool has_patterns() const { return cell() >= 12; }
};

struct LegendEntry {
  report::Style swatch;
  std::string name, meaning;
};

struct Notes {
  std::string title, description;
  std::string row_label, column_label;
  std::vector<LegendEntry> legend;
  std::vector<std::string> lines;  // under the legend
};

// Throws UsageError where a side has more than kMostCells cells, which are called `what`.
void require_readable(const Grid& grid, const std::string& what, const std::string& remedy);

// A canvas with title, axes and text; the cells are still to be drawn, and then the frame.
report::Svg begin_grid(const Grid& grid, const Notes& notes);
void draw_frame(report::Svg& svg, const Grid& grid);

// "n_q = 192, n_k = 192" and the mask in a few words, a line each.
std::vector<std::string> mask_lines(const Mask& mask);
std::string mask_title(const Mask& mask);

}  // namespace swa::figures
