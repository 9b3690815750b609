// KV bytes against context.
#include <fmt/format.h>

#include <algorithm>

#include "cache/bytes.hpp"
#include "error.hpp"
#include "figures/figures.hpp"
#include "report/chart.hpp"

namespace swa::figures {
namespace {

report::Point point(Index context, Index bytes) {
  return {static_cast<double>(context), static_cast<double>(bytes) / kGiB};
}

}  // namespace

std::string kv_chart(const std::vector<Model>& models, std::vector<Index> contexts, Index batch,
                     Dtype dtype) {
  if (models.size() > report::kShapes) {
    throw UsageError(fmt::format("a figure with {} models would not be readable: it holds at most "
                                 "{}",
                                 models.size(), report::kShapes),
                     "choose some with --model");
  }
  std::sort(contexts.begin(), contexts.end());
  contexts.erase(std::unique(contexts.begin(), contexts.end()), contexts.end());
  if (contexts.size() < 2) {
    throw UsageError("a figure against context needs two contexts at least",
                     "such as --ctx 1Ki:128Ki:*2");
  }
  report::Chart chart;
  chart.title = models.size() == 1 ? "KV cache of " + models.front().title : "KV cache by context";
  chart.description =
      "KV cache in GiB against tokens of context, a line for each model as it is "
      "and one as if all its layers were global.";
  chart.x = {"context, tokens", report::Scale::log2, true, ""};
  chart.y = {fmt::format("KV cache, GiB ({}, {} {})", name(dtype), batch,
                         batch == 1 ? "sequence" : "sequences"),
             report::Scale::log2, false, ""};
  // A model is a shape of marker, and the two plans are dashes.
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Model& model = models[i];
    report::Series hybrid{model.title + ", hybrid", {}, i, 0};
    report::Series global{model.title + ", all layers global", {}, i, 1};
    for (const Index context : contexts) {
      hybrid.points.push_back(point(context, kv_bytes(model, context, batch, bytes(dtype))));
      global.points.push_back(
          point(context, kv_bytes_all_global(model, context, batch, bytes(dtype))));
    }
    chart.series.push_back(std::move(hybrid));
    chart.series.push_back(std::move(global));
  }
  return report::draw(chart).document();
}

}  // namespace swa::figures
