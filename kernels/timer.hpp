// How long do the GPU kernels take?
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "problem/problem.hpp"

namespace swa {

// What a GPU kernel of bench does on a problem.
struct GpuWork {
  std::string kernel;
  std::optional<std::string> unsupported;
  double issued_pairs = 0;  // over all heads and sequences; of what is supported
};
// Of all GPU kernels; empty where there are none.
std::vector<GpuWork> gpu_work(const Problem& problem);
std::vector<std::string> gpu_kernel_names();

// A problem's tensors on the device: random normal, from a counter-based stream (Philox) of the
// problem's seed and not NumPy's, so that they need not come from the host.
class GpuTimer {
 public:
  explicit GpuTimer(const Problem& problem);  // throws CannotRun where the memory does not suffice
  ~GpuTimer();

  // One launch, between two events, after more bytes than the L2 holds were written. In seconds.
  double time(const std::string& kernel);
  // Elements of the output that the last launch left NaN or infinite; outputs are poisoned before
  // each.
  Index nonfinite();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace swa
