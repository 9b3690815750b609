// What verify reports of random problems.
#pragma once

#include "cli/command.hpp"
#include "commands/run_cases.hpp"

namespace swa::commands {

// What was drawn, and how each kernel fared: in numbers, but for each problem that one did not
// pass. Those are diagnosed together, by the smallest few of them.
cli::Outcome outcome_of_random(const VerifyRun& options, const Results& results);

}  // namespace swa::commands
