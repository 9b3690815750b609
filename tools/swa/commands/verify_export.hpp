// swa verify export: the inputs of cases, in files, for kernels that run elsewhere.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "problem/cases.hpp"

namespace swa::commands {

// Writes them into a folder that is not there or empty; docs/files.md says what lies where. Where
// it fails or a signal ends it, nothing of it stays.
cli::Outcome export_cases(const std::vector<Case>& cases, const std::string& folder);

}  // namespace swa::commands
