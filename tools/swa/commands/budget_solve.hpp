// The inverse questions of kv-budget: the most of one quantity that a budget of bytes holds.
#pragma once

#include <string>
#include <vector>

#include "commands/budget_records.hpp"

namespace swa::commands {

std::vector<std::string> solve_words();

// A record for each answer and for the neighbour that is over the budget; status 1 where a layout
// holds not even the least. Throws UsageError for a question that the models do not have.
cli::Outcome solve(const BudgetRequest& request, const std::string& quantity, Index under);

}  // namespace swa::commands
