// A line chart: series of points over two axes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/svg.hpp"

namespace swa::report {

enum class Scale : std::uint8_t { linear, log2 };

struct Axis {
  std::string label;  // with its unit
  Scale scale = Scale::linear;
  bool binary = false;      // ticks as 4Ki, not 4096
  std::string suffix = {};  // after each tick's number, such as "%"
};

// Series are told apart by the shape of their markers and by the dashes of their line: the
// kinds of each are counted from 0 and start again when they run out. Markers of dash 0 are filled;
// the others are outlines, so that points on one spot can all be seen.
struct Series {
  std::string name;
  std::vector<Point> points;  // values, not pixels; drawn in this order
  std::size_t shape = 0, dash = 0;
  bool line = true, markers = true;  // which of them are drawn
};
inline constexpr std::size_t kShapes = 4, kDashes = 5;

struct Chart {
  std::string title, description;
  Axis x, y;
  std::vector<Series> series;
};

// Values that an axis spans and where they lie, in pixels.
class AxisMap {
 public:
  // Spans all values and, on a linear axis, 0. Throws std::logic_error where there are none, where
  // one is not finite, or where one is not above 0 on a log2 axis.
  AxisMap(const Axis& axis, const std::vector<double>& values, double pixel_begin,
          double pixel_end);

  double pixel(double value) const;
  struct Tick {
    double value;
    std::string label;
  };
  std::vector<Tick> ticks() const;

 private:
  Axis axis_;
  double low_, high_, step_;  // of the value, or of its log2; step_ from tick to tick
  double begin_, end_;
};

Svg draw(const Chart& chart);

}  // namespace swa::report
