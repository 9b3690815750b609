// KV bytes against context.
#include <fmt/format.h>

#include <algorithm>

#include "budget/layout.hpp"
#include "error.hpp"
#include "figures/figures.hpp"
#include "report/chart.hpp"

namespace swa::figures {
namespace {

report::Point point(const Model& model, Index context, Index bytes) {
  if (bytes == 0) {
    throw UsageError(fmt::format("{} keeps no cache, so there is nothing to draw", model.id),
                     "leave the .svg out");
  }
  return {static_cast<double>(context), static_cast<double>(bytes) / kGiB};
}

// A curve for each model and layout; with the logical layout alone, also one as if all layers were
// global. A model is a shape of marker, and the dashes tell its curves apart.
void add_curves(report::Chart& chart, const std::vector<Model>& models,
                const std::vector<ChosenLayout>& layouts, const std::vector<Index>& contexts,
                Demand demand) {
  const bool compares_plans = layouts.size() == 1 && layouts.front().text == "logical";
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Model& model = models[i];
    for (std::size_t j = 0; j < layouts.size(); ++j) {
      const std::string plan = compares_plans ? "hybrid" : layouts[j].text;
      report::Series curve{model.title + ", " + plan, {}, i, j};
      for (const Index context : contexts) {
        demand.context = context;
        curve.points.push_back(point(model, context, allocate(layouts[j], model, demand).bytes()));
      }
      chart.series.push_back(std::move(curve));
    }
    if (!compares_plans) continue;
    report::Series global{model.title + ", all layers global", {}, i, 1};
    for (const Index context : contexts) {
      demand.context = context;
      global.points.push_back(point(model, context, all_global_bytes(model, demand)));
    }
    chart.series.push_back(std::move(global));
  }
}

}  // namespace

std::string kv_chart(const std::vector<Model>& models, const std::vector<ChosenLayout>& layouts,
                     std::vector<Index> contexts, const Demand& demand) {
  if (models.size() > report::kShapes || layouts.size() > report::kDashes) {
    throw UsageError(fmt::format("a figure with {} models and {} layouts would not be readable: it "
                                 "holds at most {} and {}",
                                 models.size(), layouts.size(), report::kShapes, report::kDashes),
                     "choose some with --model and --layout");
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
      layouts.size() == 1 && layouts.front().text == "logical"
          ? "KV cache in GiB against tokens of context, a line for each model as it is and one as "
            "if all its layers were global."
          : "KV cache in GiB against tokens of context, a line for each model and layout.";
  chart.x = {"context, tokens", report::Scale::log2, true, ""};
  chart.y = {fmt::format("KV cache, GiB ({}, {} {})", type_name(demand), demand.batch,
                         demand.batch == 1 ? "sequence" : "sequences"),
             report::Scale::log2, false, ""};
  add_curves(chart, models, layouts, contexts, demand);
  return report::draw(chart).document();
}

}  // namespace swa::figures
