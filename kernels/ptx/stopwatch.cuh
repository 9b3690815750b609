// When the blocks of a launch begin and end, by the clocks of the multiprocessors they run on.
#pragma once

#include <cstdint>

#include "kernels/params.h"

namespace swa::ptx {

// Lives as long as the kernel's body. Where no clocks are wanted it costs two comparisons a warp.
class Stopwatch {
 public:
  __device__ explicit Stopwatch(const ForwardParams& params) : params_(params) {
    if (params_.clocks == nullptr || threadIdx.x % 32 != 0) return;
    SmClock* const clock = clock_of_this();
    if (clock == nullptr) return;
    atomicMin(&clock->first_cycle, static_cast<unsigned long long>(clock64()));
    atomicMin(&clock->first_ns, nanoseconds());
  }
  __device__ ~Stopwatch() {
    if (params_.clocks == nullptr || threadIdx.x % 32 != 0) return;
    SmClock* const clock = clock_of_this();
    if (clock == nullptr) return;
    atomicMax(&clock->last_cycle, static_cast<unsigned long long>(clock64()));
    atomicMax(&clock->last_ns, nanoseconds());
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  __device__ SmClock* clock_of_this() const {
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;\n" : "=r"(sm));
    return sm < kMostSmClocks ? params_.clocks + sm : nullptr;
  }
  static __device__ unsigned long long nanoseconds() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;\n" : "=l"(now));
    return now;
  }

  const ForwardParams& params_;
};

}  // namespace swa::ptx
