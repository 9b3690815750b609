// What one kernel took on one problem of bench, and its record.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "commands/gpu_bench.hpp"
#include "commands/problem_record.hpp"

namespace swa::commands {

// Times in seconds, medians where there is one number.
struct GpuTiming {
  GpuWork work;
  SampleCheck check;
  std::string regime;
  std::vector<double> seconds;          // of the rounds, sorted
  GpuCycles cycles;                     // 0 where they were not counted
  double empty = 0;                     // a launch of the kernel's grid that does nothing
  double bytes = 0;                     // that each read and copy moves
  double read = 0, copy = 0;            // with the kernel's grid
  double best_read = 0, best_copy = 0;  // with the grid that suits the GPU best
  std::vector<std::pair<std::string, double>> loops;  // unit, FLOP/s
};

// Useful work of a visible pair.
double flops_per_pair(const Problem& problem);

report::Record gpu_record(const GpuBench& bench, const Case& one, const ProblemColumns& columns,
                          const GpuTiming& timing);

// A sentence for each share of a roof that passes 1.
std::vector<std::string> broken_roofs(const Problem& problem, const GpuTiming& timing);

}  // namespace swa::commands
