// Layouts as they are asked for: "vllm:block-size=32,llama.cpp".
#pragma once

#include <string>
#include <vector>

#include "budget/layout.hpp"
#include "report/report.hpp"

namespace swa::commands {

// "all" is every layout with its usual settings. Throws UsageError.
std::vector<ChosenLayout> parse_layouts(const std::string& option, const std::string& text);

// A record for each layout and setting.
report::Report layout_list();

}  // namespace swa::commands
