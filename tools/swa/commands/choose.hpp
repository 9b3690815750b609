// Kernels by name.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace swa::commands {

// Which of the names match one of the option's patterns, each once, in the order of the patterns.
// Throws CannotRun, because `gpu_absence` and with that remedy, where a pattern fits GPU kernels
// only, and UsageError where it fits none.
std::vector<std::size_t> choose(const cli::Option& option, const std::vector<std::string>& names,
                                const std::string& gpu_absence, const std::string& remedy);

}  // namespace swa::commands
