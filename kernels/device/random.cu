#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <type_traits>

#include "kernels/device/random.hpp"

namespace swa::device {
namespace {

constexpr int kThreads = 256, kBlocks = 2048;

struct Four {
  std::uint32_t x[4];
};

__device__ Four philox(std::uint64_t counter, std::uint32_t stream, std::uint64_t seed) {
  Four c{
      {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), stream, 0}};
  std::uint32_t k0 = static_cast<std::uint32_t>(seed), k1 = static_cast<std::uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * c.x[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * c.x[2];
    c = {{static_cast<std::uint32_t>(b >> 32) ^ c.x[1] ^ k0, static_cast<std::uint32_t>(b),
          static_cast<std::uint32_t>(a >> 32) ^ c.x[3] ^ k1, static_cast<std::uint32_t>(a)}};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c;
}

// Two normal numbers of two words.
__device__ float2 box_muller(std::uint32_t a, std::uint32_t b) {
  const float u = (static_cast<float>(a) + 0.5F) * 0x1p-32F;
  const float radius = sqrtf(-2 * logf(fminf(u, 0.99999994F)));
  float sine, cosine;
  sincospif(static_cast<float>(b) * 0x1p-31F, &sine, &cosine);
  return {radius * cosine, radius * sine};
}

template <class Element>
__global__ void normal(Element* to, Index count, std::uint64_t seed, std::uint32_t stream) {
  const Index stride = Index{gridDim.x} * blockDim.x;
  for (Index at = Index{blockIdx.x} * blockDim.x + threadIdx.x; at * 4 < count; at += stride) {
    const Four words = philox(static_cast<std::uint64_t>(at), stream, seed);
    const float2 a = box_muller(words.x[0], words.x[1]), b = box_muller(words.x[2], words.x[3]);
    const float numbers[4] = {a.x, a.y, b.x, b.y};
    for (int i = 0; i < 4; ++i) {
      if (at * 4 + i < count) to[at * 4 + i] = static_cast<Element>(numbers[i]);
    }
  }
}

template <class Element>
__global__ void nonfinite(const Element* from, Index count, unsigned long long* total) {
  const Index stride = Index{gridDim.x} * blockDim.x;
  unsigned long long found = 0;
  for (Index at = Index{blockIdx.x} * blockDim.x + threadIdx.x; at < count; at += stride) {
    found += !isfinite(static_cast<float>(from[at]));
  }
  if (found > 0) atomicAdd(total, found);
}

// Calls `use` with a pointer of the element type.
template <class Void, class Use>
cudaError_t as_elements(Void* pointer, Dtype dtype, Use use) {
  const auto with = [&]<class Element>(Element) {
    if constexpr (std::is_const_v<Void>) {
      use(static_cast<const Element*>(pointer));
    } else {
      use(static_cast<Element*>(pointer));
    }
    return cudaGetLastError();
  };
  switch (dtype) {
    case Dtype::fp64:
      return with(double{});
    case Dtype::fp32:
    case Dtype::tf32:
      return with(float{});
    case Dtype::bf16:
      return with(__nv_bfloat16{});
    case Dtype::fp16:
      return with(__half{});
    case Dtype::fp8_e4m3:
    case Dtype::fp8_e5m2:
      break;
  }
  return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t fill_normal(void* to, Dtype dtype, Index count, std::uint64_t seed,
                        std::uint32_t stream) {
  return as_elements(to, dtype, [&](auto* elements) {
    normal<<<kBlocks, kThreads>>>(elements, count, seed, stream);
  });
}

cudaError_t count_nonfinite(const void* from, Dtype dtype, Index count, unsigned long long* total) {
  return as_elements(from, dtype, [&](const auto* elements) {
    nonfinite<<<kBlocks, kThreads>>>(elements, count, total);
  });
}

}  // namespace swa::device
