// swa bench --plan: what the GPU kernels would do, printed without a GPU.
#pragma once

#include <vector>

#include "cli/command.hpp"
#include "kernels/launch/plan.hpp"
#include "problem/cases.hpp"
#include "report/report.hpp"

namespace swa::commands {

// Plans for a GPU of kMultiprocessors, an H100 or H200, and the line that says so.
std::vector<LaunchPlan> plans_of(const Problem& problem);
report::Lines plan_heading();
// Tile, heads in it, grid, threads, shared memory and splits; null where the kernel does not
// support the problem, or has none.
void add_launch(report::Record& record, const LaunchPlan& plan);
// What the tiles issue, and why the plan is as it is, or why there is none.
void add_reason(report::Record& record, const Problem& problem, const LaunchPlan& plan);

// A record for each problem and kernel whose name matches one of the patterns of `kernel`.
cli::Outcome plan_launches(const std::vector<Case>& cases, const cli::Option& kernel);

}  // namespace swa::commands
