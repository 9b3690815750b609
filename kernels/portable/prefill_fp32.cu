#include "kernels/portable/prefill_fp32.cuh"

#include "kernels/portable/launch.hpp"

namespace swa::portable {
namespace {

template <int kDim>
cudaError_t launch(const PrefillCall& call, Walk walk, cudaStream_t stream) {
  constexpr int kBytes = fp32_tile(kDim).smem_bytes();
  const cudaError_t error =
      cudaFuncSetAttribute(prefill_fp32<kDim>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (error != cudaSuccess) return error;
  prefill_fp32<kDim><<<call.blocks, Fp32Tile::kThreads, kBytes, stream>>>(call, walk);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_prefill_fp32(const PrefillCall& call, Walk walk, cudaStream_t stream) {
  switch (fp32_tile(larger(call.params.head_dim, call.params.head_dim_v)).dim) {
    case 64:
      return launch<64>(call, walk, stream);
    case 128:
      return launch<128>(call, walk, stream);
    case 256:
      return launch<256>(call, walk, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace swa::portable
