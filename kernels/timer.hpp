// How long do the GPU kernels take, and what does the GPU allow?
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/sample_check.hpp"
#include "problem/problem.hpp"

namespace swa {

// Blocks, their threads and their shared memory. No blocks: as suits the GPU best.
struct LaunchGrid {
  Index blocks = 0, threads = 0, smem_bytes = 0;
};

// What a GPU kernel of bench does on a problem.
struct GpuWork {
  std::string kernel;
  std::optional<std::string> unsupported;
  bool for_use = true;  // false for kernels that are there to be compared with
  // Of what is supported:
  double issued_pairs = 0;  // over all heads and sequences
  LaunchGrid grid;
  std::string mma;  // the unit that its products run on, a name of mma_units(); empty: none known
};
// Of all GPU kernels; empty where there are none.
std::vector<GpuWork> gpu_work(const Problem& problem);
std::vector<std::string> gpu_kernel_names();
// Those for use.
std::vector<std::string> usual_gpu_kernels();

// Units of this GPU that multiply numbers of the dtype, for which this build has a loop: "fma",
// "mma.sync", "wgmma".
std::vector<std::string> mma_units(Dtype dtype);

// Cycles from the first warp's begin to the last one's end, of the multiprocessor on which they are
// most, and its clock meanwhile.
struct GpuCycles {
  double cycles = 0, hertz = 0;
};

// Times launches on a problem's tensors, [batch, tokens, heads, dim], random normal, from a
// counter-based stream (Philox) of the problem's seed and not NumPy's, so that they need not come
// from the host. All that is launched is prepared first and then timed as often as is wanted.
class GpuTimer {
 public:
  enum class Replay : std::uint8_t { graph, launch };
  // Throws CannotRun where the memory does not suffice.
  GpuTimer(const Problem& problem, Replay replay);
  ~GpuTimer();

  using Entry = std::size_t;
  Entry add_kernel(const std::string& name);
  // Bytes are those of least_traffic(), at most kMostRoofBytes of them. A copy moves as many, half
  // of them written; the one that suits the GPU best is CUDA's own.
  Entry add_empty(LaunchGrid grid);
  Entry add_read(LaunchGrid grid);
  Entry add_copy(LaunchGrid grid);
  // A loop on a unit of mma_units() with about as many FLOP as are asked for, and no fewer than
  // fill 0.2 ms.
  Entry add_mma(const std::string& unit, double flops);
  static constexpr double kMostRoofBytes = 0x1p32;

  double roof_bytes() const;      // that a read or a copy moves
  double mma_flops(Entry) const;  // of one launch

  // Runs a kernel once on poisoned outputs and judges them.
  SampleCheck check(Entry kernel);
  // One replay between two events, after four times the L2 was written. In seconds.
  double time(Entry entry);
  // Replays back to back for the given time, nothing flushed: seconds of each tenth of the second
  // half.
  std::vector<double> time_sustained(Entry entry, double seconds);
  // Of one more launch, after a flush.
  GpuCycles count_cycles(Entry kernel);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace swa
