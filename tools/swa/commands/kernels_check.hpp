// swa kernels --check: what must hold of the compiled kernels, and the chapter's compile check
// beside them.
#pragma once

#include <vector>

#include "cli/command.hpp"
#include "kernels/resources.hpp"

namespace swa::commands {

// Status 1 where a check does not hold.
cli::Outcome check_kernels(const std::vector<Resources>& instances);

}  // namespace swa::commands
