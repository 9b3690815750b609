// Which figure a sweep of swa tile-map has.
#include <fmt/format.h>

#include <algorithm>

#include "error.hpp"
#include "figures/figures.hpp"

namespace swa::figures {
namespace {

bool differ_in_window_alone(const std::vector<Problem>& problems) {
  const Problem& first = problems.front();
  return std::all_of(problems.begin(), problems.end(), [&](const Problem& p) {
    return p.window.kind == Window::Kind::causal && p.n_q == first.n_q && p.n_k == first.n_k &&
           p.sinks == first.sinks && p.anchor == first.anchor;
  });
}

std::string share_chart(const std::vector<Problem>& problems, const std::vector<TileShape>& tiles,
                        Rule rule) {
  std::vector<SharePoint> points;
  for (const Problem& p : problems) {
    for (const TileShape tile : tiles) {
      const TileCounts counts = count_tiles(p.mask(), tile, rule);
      points.push_back({tile, p.window.width,
                        static_cast<double>(counts.partial) / static_cast<double>(counts.visited)});
    }
  }
  const Problem& p = problems.front();
  std::string problem = fmt::format("n_q = {}, n_k = {}", p.n_q, p.n_k);
  if (p.sinks > 0) problem += fmt::format(", {} sink tokens", p.sinks);
  if (rule != Rule::exact) problem += fmt::format(", loop bounds of {}", name(rule));
  if (p.anchor == Anchor::top_left && p.n_q != p.n_k) problem += ", top-left";
  return partial_share_chart(points, problem);
}

}  // namespace

std::string tile_map(const std::vector<Problem>& problems, const std::vector<TileShape>& tiles,
                     Rule rule, bool mask) {
  if (problems.size() == 1 && mask) return mask_picture(problems.front().mask());
  if (problems.size() == 1 && tiles.size() == 1) {
    return tile_grid(problems.front().mask(), tiles.front(), rule);
  }
  if (!mask && problems.size() > 1 && differ_in_window_alone(problems)) {
    return share_chart(problems, tiles, rule);
  }
  throw UsageError(
      "--export: this sweep has no figure (.svg)",
      mask ? "--show-mask draws one mask: give one value of each option"
           : "one problem with one tile shape is drawn as a grid, and a list of causal windows, "
             "--W, with one value of --nq, --nk and --sinks as a chart");
}

}  // namespace swa::figures
