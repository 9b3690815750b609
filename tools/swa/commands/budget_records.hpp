// Records of kv-budget: bytes of a model's cache under a layout, what fits, what a step reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "budget/questions.hpp"
#include "commands/budget_models.hpp"

namespace swa::commands {

struct BudgetRequest {
  std::vector<ChosenModel> models;
  std::vector<ChosenLayout> layouts;
  std::vector<Index> contexts;
  Demand demand;  // all but its context
  bool names_layouts = false;
  // Bytes that the cache may take on one GPU, where that is asked.
  std::optional<Index> room;
  std::optional<Index> bandwidth;  // bytes a second
  std::string words;               // the options that are the same for all records
};

// One question of those, and its answer.
struct Budget {
  const ChosenModel* model;
  const ChosenLayout* layout;
  Demand demand;
  std::optional<Allocation> allocation;
  Index all_global;     // bytes with every layer global, where there is an allocation
  std::string refusal;  // why there is no allocation

  bool fits(const BudgetRequest& request) const;
};

// In the order model, context, layout. Throws the refusal where all are refused.
std::vector<Budget> budgets(const BudgetRequest& request);

report::Table budget_table(const BudgetRequest& request, const std::vector<Budget>& budgets);
// What the bytes of each budget are spent on.
report::Table breakdown_table(const std::vector<Budget>& budgets);
// The lines that vLLM logs for the room: tokens, and how many requests of the context at once.
report::Lines vllm_lines(const BudgetRequest& request, const std::vector<Budget>& budgets);
// Bars, each as long as the bytes are many.
report::Lines budget_bars(const std::vector<Budget>& budgets, bool names_layouts);
// Throws UsageError where figures of the model are not known.
void require_known(const Model& model);

}  // namespace swa::commands
