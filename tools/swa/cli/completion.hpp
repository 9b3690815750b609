// Scripts that complete swa's command line in a shell.
#pragma once

#include <string>

#include "cli/option_table.hpp"

namespace swa::cli {

// Commands and options come from the table, and the words of an option from cli/choices.hpp.
// Models, suites and kernels are asked of swa at the time, so that those of one's own data folder
// are offered.
std::string bash_completion(const OptionTable& table);
std::string zsh_completion(const OptionTable& table);

}  // namespace swa::cli
