// How much of the visited work needs a mask, against the window.
#include <fmt/format.h>

#include <algorithm>

#include "error.hpp"
#include "figures/figures.hpp"
#include "report/chart.hpp"

namespace swa::figures {
namespace {

// Markers and dashes together tell this many series apart.
constexpr std::size_t kMostShapes = 10;

bool same(TileShape a, TileShape b) {
  return a.BM == b.BM && a.BN == b.BN;
}

std::vector<TileShape> shapes_of(const std::vector<SharePoint>& points) {
  std::vector<TileShape> shapes;
  for (const SharePoint& p : points) {
    const auto is_its = [&](TileShape other) { return same(p.tile, other); };
    if (std::none_of(shapes.begin(), shapes.end(), is_its)) shapes.push_back(p.tile);
  }
  return shapes;
}

}  // namespace

std::string partial_share_chart(const std::vector<SharePoint>& points, const std::string& problem) {
  const std::vector<TileShape> shapes = shapes_of(points);
  if (shapes.size() > kMostShapes) {
    throw UsageError(fmt::format("a figure with {} tile shapes would not be readable: it holds at "
                                 "most {}",
                                 shapes.size(), kMostShapes),
                     "shorten --BM or --BN");
  }
  report::Chart chart;
  chart.title = "Visited tiles that are PARTIAL: " + problem;
  chart.description =
      "A line for each tile shape: the share of visited tiles that need the mask, "
      "against the window W.";
  chart.x = {"window W, keys", report::Scale::log2, true, ""};
  chart.y = {"PARTIAL share of visited tiles", report::Scale::linear, false, "%"};
  for (const TileShape shape : shapes) {
    report::Series series;
    series.name = fmt::format("BM x BN = {} x {}", shape.BM, shape.BN);
    series.shape = series.dash = chart.series.size();
    for (const SharePoint& p : points) {
      if (same(p.tile, shape)) series.points.push_back({static_cast<double>(p.W), 100 * p.share});
    }
    std::stable_sort(series.points.begin(), series.points.end(),
                     [](report::Point a, report::Point b) { return a.x < b.x; });
    chart.series.push_back(std::move(series));
  }
  return report::draw(chart).document();
}

}  // namespace swa::figures
