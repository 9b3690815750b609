// The poison of shared memory reaches the kernels that run after it.
#include <doctest/doctest.h>

#include <span>

#include "gpu/here.hpp"
#include "kernels/device/buffer.hpp"
#include "kernels/device/call.hpp"
#include "kernels/device/device.hpp"
#include "kernels/device/shared_memory.hpp"

using namespace swa;

namespace {

constexpr int kThreads = 256, kBytes = 40 * 1024;

// Counts what it finds in memory that it did not write.
__global__ void count_poison(unsigned* found) {
  extern __shared__ volatile std::uint32_t memory[];
  unsigned mine = 0;
  for (int i = static_cast<int>(threadIdx.x); i < kBytes / 4; i += kThreads) {
    mine += memory[i] == device::kPoisonedWord;
  }
  atomicAdd(found, mine);
}

}  // namespace

TEST_CASE("gpu: a kernel that reads shared memory before it writes it finds NaN") {
  if (!test::has_gpu()) return;
  const device::Facts gpu = device::all().front();
  unsigned found = 0;
  device::Buffer total(std::as_bytes(std::span(&found, 1)));
  SWA_CUDA(device::poison_shared_memory(gpu.multiprocessors, static_cast<int>(gpu.shared_per_block),
                                        nullptr));
  count_poison<<<gpu.multiprocessors, kThreads, kBytes>>>(static_cast<unsigned*>(total.get()));
  SWA_CUDA(cudaGetLastError());
  total.download(std::as_writable_bytes(std::span(&found, 1)));
  CHECK(found == static_cast<unsigned>(gpu.multiprocessors * kBytes / 4));
}
