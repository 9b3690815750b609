// What the bytes of kv-budget are spent on, and bars of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "commands/budget_records.hpp"

namespace swa::commands {

report::Table breakdown_table(const std::vector<Budget>& budgets) {
  report::Table table;
  table.name = "part";
  for (const Budget& budget : budgets) {
    if (!budget.allocation) continue;
    for (const bool local : {false, true}) {
      for (std::size_t i = 0; i < kShareNames.size(); ++i) {
        const Index bytes = budget.allocation->of(local, static_cast<Share>(i));
        if (bytes == 0) continue;
        report::Record record;
        record.add({"model", "model"}, budget.model->model().id)
            .add({"context", "ctx"}, budget.demand.context)
            .add({"layout", "layout"}, budget.layout->text)
            .add({"layers", "layers"}, local ? "local" : "global")
            .add({"share", "share"}, std::string(kShareNames[i]))
            .add({"bytes", "bytes"}, bytes)
            .add({"gib", "GiB", ".3f"}, static_cast<double>(bytes) / kGiB);
        append(table, record);
      }
    }
  }
  return table;
}

report::Lines vllm_lines(const BudgetRequest& request, const std::vector<Budget>& budgets) {
  report::Lines lines;
  for (const Budget& budget : budgets) {
    if (!budget.allocation || budget.allocation->bytes_per_block == 0 || !request.room) continue;
    const Index blocks = *request.room / budget.allocation->bytes_per_block;
    const double requests =
        static_cast<double>(blocks) / static_cast<double>(budget.allocation->blocks_per_request);
    const auto context = static_cast<double>(budget.demand.context);
    lines.lines.push_back(fmt::format(
        "{} {}: GPU KV cache size: {:.0f} tokens; maximum concurrency for {} tokens per request: "
        "{:.2f}x",
        budget.model->model().id, budget.layout->text, std::floor(requests * context),
        budget.demand.context, requests));
  }
  return lines;
}

report::Lines budget_bars(const std::vector<Budget>& budgets, bool names_layouts) {
  constexpr double kLongest = 48;
  std::vector<std::string> names;
  std::size_t width = 0;
  double most = 0;
  for (const Budget& budget : budgets) {
    std::string name = fmt::format("{} {}", budget.model->model().id, budget.demand.context);
    if (names_layouts) name += " " + budget.layout->text;
    width = std::max(width, name.size());
    names.push_back(std::move(name));
    if (budget.allocation) most = std::max(most, static_cast<double>(budget.allocation->bytes()));
  }
  report::Lines lines;
  for (std::size_t i = 0; i < budgets.size(); ++i) {
    if (!budgets[i].allocation) continue;
    const auto bytes = static_cast<double>(budgets[i].allocation->bytes());
    const auto length = most > 0 ? static_cast<std::size_t>(std::ceil(kLongest * bytes / most)) : 0;
    lines.lines.push_back(fmt::format("{:<{}}  {} {:.2f} GiB", names[i], width,
                                      std::string(length, '#'), bytes / kGiB));
  }
  return lines;
}

}  // namespace swa::commands
