// Copies from global to shared memory that do not pass through registers (sm_80 and later).
#pragma once

#include <cstdint>

namespace swa::ptx {

__device__ inline std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

// 16 bytes; zeros, and nothing is read, where not `wanted`. Both addresses are multiples of 16.
__device__ inline void copy_16_bytes(std::uint32_t to, const void* from, bool wanted) {
  const int bytes = wanted ? 16 : 0;
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;\n" ::"r"(to), "l"(from),
               "r"(bytes)
               : "memory");
}

// Ends a group of copies of this thread.
__device__ inline void commit_copies() {
  asm volatile("cp.async.commit_group;\n" ::: "memory");
}

// Waits until at most the `kPending` newest groups of this thread are under way.
template <int kPending>
__device__ inline void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;\n" ::"n"(kPending) : "memory");
}

}  // namespace swa::ptx
