// Speed against FLOP per byte, below the roofs of the machine.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "error.hpp"
#include "figures/figures.hpp"
#include "report/chart.hpp"

namespace swa::figures {
namespace {

constexpr double kTera = 1e12;
// Without a line, a marker is filled or not.
constexpr std::size_t kMostKernels = report::kShapes * 2;
constexpr std::size_t kMostUnits = report::kDashes - 1;  // the first is memory's

void refuse_unreadable(const std::vector<RooflinePoint>& points, const RooflineRoofs& roofs) {
  if (points.empty() || roofs.flops_per_s.empty()) {
    throw UsageError("there is nothing to draw below a roof");
  }
  if (roofs.flops_per_s.size() > kMostUnits) {
    throw UsageError("a figure of so many roofs would not be readable");
  }
  for (const RooflinePoint& p : points) {
    const auto drawable = [](double x) { return std::isfinite(x) && x > 0; };
    if (drawable(p.flops_per_byte) && drawable(p.tflops)) continue;
    throw UsageError(fmt::format("{} has no place below a roof, at {} FLOP per byte and {} TFLOP/s",
                                 p.kernel, p.flops_per_byte, p.tflops),
                     "leave out problems in which no query sees a key");
  }
}

// Memory's slope up to where it meets the highest of the others, and each of those from where the
// slope meets it.
std::vector<report::Series> roof_lines(const std::vector<RooflinePoint>& points,
                                       const RooflineRoofs& roofs) {
  const double tera_bytes = roofs.bytes_per_s / kTera;
  std::vector<double> ridges;
  for (const auto& [name, flops] : roofs.flops_per_s) {
    ridges.push_back(flops / roofs.bytes_per_s);
  }
  std::vector<double> spans = ridges;
  for (const RooflinePoint& p : points) spans.push_back(p.flops_per_byte);
  const auto [least, most] = std::minmax_element(spans.begin(), spans.end());
  // To the edges of the plot, which begins and ends at a power of two.
  const double left = std::exp2(std::floor(std::log2(*least)) - 1);
  const double right = std::exp2(std::ceil(std::log2(*most)) + 1);
  const double ridge = *std::max_element(ridges.begin(), ridges.end());
  std::vector<report::Series> lines{{fmt::format("memory, {:.3g} TB/s", tera_bytes),
                                     {{left, left * tera_bytes}, {ridge, ridge * tera_bytes}},
                                     0,
                                     0,
                                     true,
                                     false}};
  for (std::size_t i = 0; i < ridges.size(); ++i) {
    const auto& [name, flops] = roofs.flops_per_s[i];
    const double height = flops / kTera;
    lines.push_back({fmt::format("{}, {:.3g} TFLOP/s", name, height),
                     {{ridges[i], height}, {right, height}},
                     0,
                     i + 1,
                     true,
                     false});
  }
  return lines;
}

std::vector<report::Series> kernel_markers(const std::vector<RooflinePoint>& points) {
  std::vector<report::Series> kernels;
  for (const RooflinePoint& p : points) {
    const auto same = [&](const report::Series& s) { return s.name == p.kernel; };
    auto series = std::find_if(kernels.begin(), kernels.end(), same);
    if (series == kernels.end()) {
      const std::size_t i = kernels.size();
      if (i == kMostKernels) {
        throw UsageError(
            fmt::format("a roofline of more than {} kernels would not be readable", kMostKernels),
            "choose some with --kernel");
      }
      kernels.push_back({p.kernel, {}, i % report::kShapes, i / report::kShapes, false, true});
      series = kernels.end() - 1;
    }
    series->points.push_back({p.flops_per_byte, p.tflops});
  }
  return kernels;
}

}  // namespace

std::string roofline(const std::vector<RooflinePoint>& points, const RooflineRoofs& roofs,
                     const std::string& problem) {
  refuse_unreadable(points, roofs);
  report::Chart chart;
  chart.title = "Speed below the roofs of the machine";
  chart.description =
      "TFLOP/s of each kernel against its FLOP per byte of memory traffic, below what memory and "
      "the arithmetic units reached: " +
      problem;
  chart.x = {"FLOP per byte of memory traffic", report::Scale::log2, false, ""};
  chart.y = {"TFLOP/s", report::Scale::log2, false, ""};
  chart.series = roof_lines(points, roofs);
  const std::vector<report::Series> kernels = kernel_markers(points);
  chart.series.insert(chart.series.end(), kernels.begin(), kernels.end());
  return report::draw(chart).document();
}

}  // namespace swa::figures
