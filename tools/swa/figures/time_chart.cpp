// Time against the size of a sweep.
#include <algorithm>
#include <set>

#include "error.hpp"
#include "figures/figures.hpp"
#include "report/chart.hpp"

namespace swa::figures {
namespace {

constexpr std::size_t kMostKernels = report::kShapes * report::kDashes;

std::size_t distinct(const std::vector<TimePoint>& points, Index TimePoint::*member) {
  std::set<Index> values;
  for (const TimePoint& p : points) values.insert(p.*member);
  return values.size();
}

// What the points differ in: n_q, or the window.
Index TimePoint::*axis_of(const std::vector<TimePoint>& points) {
  const bool by_n = distinct(points, &TimePoint::n_q) > 1;
  const bool by_w = distinct(points, &TimePoint::window) > 1;
  if (by_n == by_w) {
    throw UsageError("a figure of times needs a sweep over --nq or over --W, and not over both",
                     "such as --W 1024 --nq 4Ki:128Ki:*2");
  }
  return by_n ? &TimePoint::n_q : &TimePoint::window;
}

}  // namespace

std::string time_chart(const std::vector<TimePoint>& points, const std::string& problem) {
  if (points.empty()) throw UsageError("there are no times to draw");
  Index TimePoint::*const axis = axis_of(points);
  const bool by_n = axis == &TimePoint::n_q;
  report::Chart chart;
  chart.title = by_n ? "Time against the length of the sequence" : "Time against the window";
  chart.description = "Median milliseconds of one call, a line for each kernel: " + problem;
  chart.x = {by_n ? "queries and keys" : "window, keys", report::Scale::log2, true, ""};
  chart.y = {"milliseconds", report::Scale::log2, false, ""};
  for (const TimePoint& p : points) {
    const auto same = [&](const report::Series& s) { return s.name == p.kernel; };
    auto series = std::find_if(chart.series.begin(), chart.series.end(), same);
    if (series == chart.series.end()) {
      const std::size_t i = chart.series.size();
      if (i == kMostKernels) throw UsageError("a figure of so many kernels would not be readable");
      chart.series.push_back({p.kernel, {}, i % report::kShapes, i / report::kShapes});
      series = chart.series.end() - 1;
    }
    series->points.push_back({static_cast<double>(p.*axis), p.milliseconds});
  }
  return report::draw(chart).document();
}

}  // namespace swa::figures
