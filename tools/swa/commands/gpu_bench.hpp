// The rounds of bench on a GPU.
#pragma once

#include <string>
#include <vector>

#include "figures/figures.hpp"
#include "problem/cases.hpp"
#include "report/report.hpp"

namespace swa::commands {

struct GpuBench {
  std::vector<Case> cases;
  std::vector<std::string> kernels;
  Index rounds = 30;
  double max_seconds = 10;  // no further round of a problem begins after that
};

// A record for each problem and kernel that supports it, and a line for each one that does not. The
// kernels of a problem take turns, round by round, so that all of them meet the same clock. Ends
// early after a signal.
struct GpuBenchResult {
  report::Table table;
  report::Lines unsupported;
  std::vector<figures::TimePoint> points;
};
GpuBenchResult time_on_gpu(const GpuBench& bench);

}  // namespace swa::commands
