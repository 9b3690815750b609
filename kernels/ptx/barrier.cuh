// Barriers in shared memory that count arrivals, and bytes that are on their way (sm_90).
//
// A barrier goes through phases: 0, 1, 0, ... A wait names the parity of the phase that has to be
// over. The wait for parity 1 of a fresh barrier returns at once.
#pragma once

#include <cstdint>

namespace swa::ptx {

__device__ inline void init_barrier(std::uint32_t barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(barrier), "r"(arrivals)
               : "memory");
}
// What was initialised is seen by copies and by other threads, after a __syncthreads().
__device__ inline void show_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;\n" ::: "memory");
}
__device__ inline void arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(barrier) : "memory");
}
// One arrival, and `bytes` more that copies will bring.
__device__ inline void arrive_expecting(std::uint32_t barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ inline void wait_for(std::uint32_t barrier, unsigned parity) {
  asm volatile(
      "{.reg .pred over;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
      "@!over bra again;}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

}  // namespace swa::ptx
