// Rounds of a kernel, and of the roof that its speed is a share of.
#pragma once

#include <vector>

#include "figures/figures.hpp"
#include "verify/timed_kernel.hpp"

namespace swa::commands {

// Of sorted numbers; between two of them, in proportion.
double quantile(const std::vector<double>& sorted, double share);

struct Timing {
  std::vector<double> seconds;  // of the rounds, sorted
  double roof = 0;              // FLOP/s
  GemmShape roof_shape;
  Index nonfinite = 0;  // elements of the last output
};

// Rounds of the kernel and, after each, of the roof: both meet the same weather. At least one, and
// none that begins after max_seconds; none at all where a signal came before the first was over.
Timing time_rounds(const TimedKernel& kernel, const Problem& problem, const Inputs& inputs,
                   Index rounds, double max_seconds);

// For a figure.
figures::TimePoint time_point(const std::string& kernel, const Problem& problem, double seconds);

}  // namespace swa::commands
