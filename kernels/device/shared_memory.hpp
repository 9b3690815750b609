// What lies in shared memory before a kernel runs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace swa::device {

// Two elements of 2 bytes, or one of 4, or half of one of 8: NaN in every type.
inline constexpr std::uint32_t kPoisonedWord = 0x7fff'7fff;

// Fills the shared memory of every multiprocessor with that word, so that a kernel which reads what
// it did not write returns NaN. Later launches of the stream find it.
cudaError_t poison_shared_memory(int multiprocessors, int bytes_of_block, cudaStream_t stream);

}  // namespace swa::device
