// swa bench --plan: what the GPU kernels would do, printed without a GPU.
#pragma once

#include <vector>

#include "cli/command.hpp"
#include "problem/cases.hpp"

namespace swa::commands {

// A record for each problem and kernel whose name matches one of the patterns of `kernel`.
cli::Outcome plan_launches(const std::vector<Case>& cases, const cli::Option& kernel);

}  // namespace swa::commands
