// Is an output that lies on the device right? Judged by samples of it.
#pragma once

#include <string>

#include "kernels/params.h"
#include "problem/problem.hpp"
#include "verify/comparison.hpp"
#include "verify/tolerance.hpp"

namespace swa {

struct SampleCheck {
  Index rows = 0;       // compared with the oracle, over sequences and heads
  Index nonfinite = 0;  // NaN or infinite elements of the whole output, unwritten ones included
  Comparison output;    // of those rows; `worst` counts the problem's batch, heads and rows
  Index lse_mismatches = 0;

  bool pass() const { return nonfinite == 0 && output.pass() && lse_mismatches == 0; }
  // "max error 0.013 > 0.002 at batch 0, head 3, row 7, element 1", empty where it passes.
  std::string reason() const;
};

// Rows of several heads of several sequences, each element against the double oracle within its own
// bound (verify/tolerance.hpp), and every element for being finite. `on_device` as a kernel got it,
// with outputs that were poisoned before; a null lse is not judged. The keys are contiguous.
SampleCheck check_samples(const Problem& problem, const ForwardParams& on_device, SumRuns sums);

}  // namespace swa
