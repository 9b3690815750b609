// swa bench --plan: what the GPU kernels would do, printed without a GPU.
#pragma once

#include <vector>

#include "cli/command.hpp"
#include "kernels/launch/plan.hpp"
#include "problem/cases.hpp"
#include "report/report.hpp"

namespace swa::commands {

// The GPU that --arch names. Throws UsageError for one that is not in the table.
const GpuModel& gpu_model(const cli::Option& arch);
// The line that says what plans are for.
report::Lines plan_heading(const GpuModel& gpu);
// Tile, heads in it, grid, threads, shared memory and splits; null where the kernel does not
// support the problem, or has none.
void add_launch(report::Record& record, const LaunchPlan& plan);
// What the tiles issue, and why the plan is as it is, or why there is none.
void add_reason(report::Record& record, const Problem& problem, const LaunchPlan& plan,
                const GpuModel& gpu);

// A record for each problem and kernel whose name matches one of the patterns of `kernel`.
cli::Outcome plan_launches(const std::vector<Case>& cases, const cli::Option& kernel,
                           const GpuModel& gpu);

}  // namespace swa::commands
