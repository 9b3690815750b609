// The hardware's roofs, to be measured beside a kernel: what a launch takes, a pass over memory,
// and products on the arithmetic units. On the current device; nothing here waits for it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tensor/dtype.hpp"

namespace swa {

// That of the kernel that is compared, or best_grid(). A block has 1024 threads at most.
struct RoofGrid {
  unsigned blocks = 0, threads = 0;
};

// For large buffers: all blocks are resident at once, with more loads in flight than latency needs.
RoofGrid best_grid(int multiprocessors);

// A kernel that does nothing. `shared_bytes` of each block, as much as the device allows.
cudaError_t launch_empty(RoofGrid grid, std::size_t shared_bytes, cudaStream_t stream);

// Buffers start at multiples of 16 bytes and do not overlap; of a number of bytes that is none, the
// last 1 to 15 are left out. Up to 2^40 bytes. Each byte is touched once, in pieces that are spread
// evenly over the threads.
cudaError_t launch_read(const void* from, std::size_t bytes, RoofGrid grid, cudaStream_t stream);
// Moves twice as many: reads `bytes` and writes them.
cudaError_t launch_copy(void* to, const void* from, std::size_t bytes, RoofGrid grid,
                        cudaStream_t stream);

// wgmma: the instructions of a warpgroup, which GPUs of compute capability 9.0 alone have.
enum class MmaUnit : std::uint8_t { fma_fp32, mma_sync, wgmma };
std::string_view name(MmaUnit unit);

// A loop that keeps the unit busy on every multiprocessor and touches no memory outside it: one
// block on each. Power, and with it the clock, depends on the numbers: factors are random with mean
// 0 and variance 1. Sums are in fp32, of at most 64 products, whatever the number of iterations.
struct MmaRoof {
  MmaUnit unit = MmaUnit::fma_fp32;
  Dtype dtype = Dtype::fp32;  // of the factors
};
inline constexpr MmaRoof kMmaRoofs[] = {
    {MmaUnit::fma_fp32, Dtype::fp32}, {MmaUnit::mma_sync, Dtype::tf32},
    {MmaUnit::mma_sync, Dtype::bf16}, {MmaUnit::mma_sync, Dtype::fp16},
    {MmaUnit::wgmma, Dtype::bf16},    {MmaUnit::wgmma, Dtype::fp16},
};

// Whether it is one of kMmaRoofs and this build has code of it for the current device.
bool has(const MmaRoof& roof);

// Floating-point operations of a launch, two for each product and its sum; exact, and linear in
// both numbers. 0 for what is none of kMmaRoofs.
double mma_flops(const MmaRoof& roof, int iterations, int multiprocessors);

// `multiprocessors` as the device has. The factors are made before the first iteration, in about
// 2 us by count of instructions: give a launch 1 ms or more. cudaErrorNotSupported where has() is
// false.
cudaError_t launch_mma(const MmaRoof& roof, int iterations, int multiprocessors,
                       cudaStream_t stream);

}  // namespace swa
