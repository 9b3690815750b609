#include "report/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

namespace swa::report {
namespace {

constexpr double kWidth = 860, kHeight = 430;  // without the legend
constexpr Box kPlot{84, 48, kWidth - 84 - 32, kHeight - 48 - 62};
constexpr double kLegendRow = 24, kSample = 54;
constexpr double kMostTicks = 10;

// 1, 2 or 5 times a power of ten, or a whole number of doublings: at most kMostTicks steps.
double step_over(double span, Scale scale) {
  if (scale == Scale::log2) return std::max(1.0, std::ceil(span / kMostTicks));
  const double rough = span / kMostTicks, decade = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * decade >= rough) return factor * decade;
  }
  return 10 * decade;
}

// Powers of two as fractions or exponents where those are shorter than decimals.
std::string power_of_two(double value) {
  const double exponent = std::log2(value);
  if (std::abs(exponent) > 16) return fmt::format("2^{:.0f}", exponent);
  return value < 1 ? fmt::format("1/{:.0f}", 1 / value) : fmt::format("{:.0f}", value);
}

std::string tick_label(double value, const Axis& axis) {
  static constexpr std::array kSuffixes = {"", "Ki", "Mi", "Gi", "Ti"};
  std::size_t suffix = 0;
  for (; axis.binary && value >= 1024 && suffix + 1 < kSuffixes.size(); ++suffix) value /= 1024;
  const bool whole = value == std::floor(value) && std::abs(value) < 1e6;
  const std::string digits = axis.scale == Scale::log2 ? power_of_two(value)
                             : whole                   ? fmt::format("{:.0f}", value)
                                                       : fmt::format("{:.3g}", value);
  return digits + kSuffixes[suffix] + axis.suffix;
}

std::string_view dashes(std::size_t kind) {
  constexpr std::array<std::string_view, kDashes> kKinds = {"", "9 5", "2 4", "11 4 2 4", "5 3"};
  return kKinds[kind % kDashes];
}

void draw_marker(Svg& svg, Point at, const Series& series) {
  const Fill fill = series.dash % kDashes == 0 ? Fill::dark : Fill::none;
  const Style style{fill, Ink::dark, 1.5, {}};
  constexpr double r = 4.5;
  const auto [x, y] = at;
  switch (series.shape % kShapes) {
    case 0:
      return svg.circle(at, r, style);
    case 1:
      return svg.rect({x - 4, y - 4, 8, 8}, style);
    case 2:
      return svg.polygon({{x, y - 5}, {x + 5, y + 4}, {x - 5, y + 4}}, style);
    default:
      return svg.polygon({{x, y - 5.5}, {x + 5.5, y}, {x, y + 5.5}, {x - 5.5, y}}, style);
  }
}

std::vector<double> values_of(const Chart& chart, double Point::*coordinate) {
  std::vector<double> values;
  for (const Series& series : chart.series) {
    for (const Point& p : series.points) values.push_back(p.*coordinate);
  }
  return values;
}

void draw_axes(Svg& svg, const Chart& chart, const AxisMap& x, const AxisMap& y) {
  const double right = kPlot.x + kPlot.width, bottom = kPlot.y + kPlot.height;
  svg.open("grid", Style{Fill::none, Ink::light, 1, {}});
  for (const auto& tick : x.ticks()) {
    svg.line({x.pixel(tick.value), kPlot.y}, {x.pixel(tick.value), bottom});
  }
  for (const auto& tick : y.ticks()) {
    svg.line({kPlot.x, y.pixel(tick.value)}, {right, y.pixel(tick.value)});
  }
  svg.close();
  svg.rect(kPlot, Style{Fill::none, Ink::dark, 1, {}});
  svg.open("x-ticks");
  for (const auto& tick : x.ticks()) {
    svg.text({x.pixel(tick.value), bottom + 20}, tick.label, {.align = Align::middle});
  }
  svg.close();
  svg.open("y-ticks");
  for (const auto& tick : y.ticks()) {
    svg.text({kPlot.x - 10, y.pixel(tick.value) + 4.5}, tick.label, {.align = Align::end});
  }
  svg.close();
  svg.text({kPlot.x + kPlot.width / 2, bottom + 44}, chart.x.label,
           {.size = 14, .align = Align::middle});
  svg.text({24, kPlot.y + kPlot.height / 2}, chart.y.label,
           {.size = 14, .align = Align::middle, .upright = false});
}

// Two entries a row where all names are short enough.
struct Legend {
  std::size_t columns, rows;

  explicit Legend(const Chart& chart) {
    const double room = kPlot.width / 2 - kSample - 20;
    const bool narrow = std::all_of(chart.series.begin(), chart.series.end(), [&](const Series& s) {
      return text_width(s.name, 13) <= room;
    });
    columns = narrow ? 2 : 1;
    rows = (chart.series.size() + columns - 1) / columns;
  }
};

// A name that is too long for the page makes it wider.
double width_of(const Chart& chart) {
  double width = std::max(kWidth, 2 * 24 + text_width(chart.title, 16));
  for (const Series& series : chart.series) {
    width = std::max(width, kPlot.x + kSample + text_width(series.name, 13) + 24);
  }
  return width;
}

void draw_legend(Svg& svg, const Chart& chart, const Legend& legend) {
  svg.open("legend");
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    const double x = kPlot.x + static_cast<double>(i % legend.columns) * kPlot.width / 2;
    const double y = kHeight + 8 + static_cast<double>(i / legend.columns) * kLegendRow;
    const Style line{Fill::none, Ink::dark, 1.8, dashes(series.dash)};
    if (series.line) svg.line({x, y}, {x + kSample - 12, y}, line);
    if (series.markers) draw_marker(svg, {x + (kSample - 12) / 2, y}, series);
    svg.text({x + kSample, y + 4.5}, series.name);
  }
  svg.close();
}

}  // namespace

AxisMap::AxisMap(const Axis& axis, const std::vector<double>& values, double pixel_begin,
                 double pixel_end)
    : axis_(axis), begin_(pixel_begin), end_(pixel_end) {
  const bool log2 = axis.scale == Scale::log2;
  for (const double value : values) {
    if (!std::isfinite(value) || (log2 && value <= 0)) {
      throw std::logic_error(fmt::format("{} has no place on the axis '{}'", value, axis.label));
    }
  }
  if (values.empty()) throw std::logic_error("a chart without points");
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  low_ = log2 ? std::floor(std::log2(*least)) : std::min(*least, 0.0);
  high_ = log2 ? std::ceil(std::log2(*most)) : std::max(*most, 0.0);
  if (low_ == high_) ++high_;
  step_ = step_over(high_ - low_, axis.scale);
  low_ = std::floor(low_ / step_) * step_;
  high_ = std::ceil(high_ / step_) * step_;
}

double AxisMap::pixel(double value) const {
  const double place = axis_.scale == Scale::log2 ? std::log2(value) : value;
  return begin_ + (place - low_) / (high_ - low_) * (end_ - begin_);
}

std::vector<AxisMap::Tick> AxisMap::ticks() const {
  std::vector<Tick> ticks;
  const auto steps = static_cast<int>(std::lround((high_ - low_) / step_));
  for (int i = 0; i <= steps; ++i) {
    const double place = low_ + i * step_;
    const double value = axis_.scale == Scale::log2 ? std::exp2(place) : place;
    ticks.push_back({value, tick_label(value, axis_)});
  }
  return ticks;
}

Svg draw(const Chart& chart) {
  const AxisMap x(chart.x, values_of(chart, &Point::x), kPlot.x, kPlot.x + kPlot.width);
  const AxisMap y(chart.y, values_of(chart, &Point::y), kPlot.y + kPlot.height, kPlot.y);
  const Legend legend(chart);
  Svg svg(width_of(chart), kHeight + 14 + static_cast<double>(legend.rows) * kLegendRow,
          chart.title, chart.description);
  svg.text({24, 28}, chart.title, {.size = 15, .bold = true});
  draw_axes(svg, chart, x, y);
  for (const Series& series : chart.series) {
    std::vector<Point> pixels;
    for (const Point& p : series.points) pixels.push_back({x.pixel(p.x), y.pixel(p.y)});
    svg.open("series");
    const Style line{Fill::none, Ink::dark, 1.8, dashes(series.dash)};
    if (series.line) svg.polyline(pixels, line);
    for (const Point& p : pixels) {
      if (series.markers) draw_marker(svg, p, series);
    }
    svg.close();
  }
  draw_legend(svg, chart, legend);
  return svg;
}

}  // namespace swa::report
