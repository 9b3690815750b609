// The rounds of bench on the CPU: its kernel and the oracles, each beside a matrix product.
#pragma once

#include <vector>

#include "problem/cases.hpp"
#include "report/report.hpp"
#include "tiles/tiles.hpp"
#include "verify/timed_kernel.hpp"

namespace swa::commands {

struct CpuBench {
  std::vector<Case> cases;
  std::vector<TimedKernel> kernels;
  std::vector<Index> threads;
  TileShape tile;
  Index rounds = 5;
  double max_seconds = 10;  // no further round of a kernel begins after that
};

// A record for each problem, number of threads and kernel, as far as time was given. Throws
// CannotRun, before anything runs, where the memory does not suffice for one of them.
report::Table time_on_cpu(const CpuBench& bench);

}  // namespace swa::commands
