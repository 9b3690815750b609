// swa tile-map --kernel: the tiles that kernels of this project visit, and how they are launched.
#pragma once

#include <variant>
#include <vector>

#include "cli/command.hpp"
#include "problem/problem.hpp"
#include "report/report.hpp"

namespace swa::commands {

// The heading of the plans, and a record for each problem and kernel whose name matches one of the
// patterns of `kernel`: the GPU kernels and cpu-tiled. Nothing is run, and no GPU is needed. Throws
// UsageError for a name that has no tiles, where none of them supports any of the problems, and for
// a sweep of more than `most` records.
std::vector<std::variant<report::Lines, report::Table>> kernel_tiles(
    const std::vector<Problem>& problems, const cli::Option& kernel, std::size_t most);

}  // namespace swa::commands
