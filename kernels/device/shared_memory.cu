#include "kernels/device/shared_memory.hpp"

namespace swa::device {
namespace {

constexpr int kThreads = 1024;

__global__ void fill(int words) {
  extern __shared__ volatile std::uint32_t memory[];  // nobody reads it here
  for (int i = static_cast<int>(threadIdx.x); i < words; i += kThreads) memory[i] = kPoisonedWord;
}

}  // namespace

cudaError_t poison_shared_memory(int multiprocessors, int bytes_of_block, cudaStream_t stream) {
  const cudaError_t error =
      cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes_of_block);
  if (error != cudaSuccess) return error;
  // A block that takes all that there is leaves no room beside it: each multiprocessor gets some.
  fill<<<4 * multiprocessors, kThreads, bytes_of_block, stream>>>(bytes_of_block / 4);
  return cudaGetLastError();
}

}  // namespace swa::device
