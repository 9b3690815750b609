#include "kernels/portable/prefill_fp32.cuh"

#include "kernels/portable/launch.hpp"

namespace swa::portable {
namespace {

template <Dtype kDtype>
cudaError_t launch(const PrefillCall& call, TileLoop loop, cudaStream_t stream) {
  const Index dim = larger(call.params.head_dim, call.params.head_dim_v);
  switch (fp32_tile(dim).dim) {
    case 64:
      return launch_fp32_of<kDtype, 64>(call, loop, stream);
    case 128:
      return launch_fp32_of<kDtype, 128>(call, loop, stream);
    case 256:
      return launch_fp32_of<kDtype, 256>(call, loop, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

}  // namespace

cudaError_t launch_prefill_fp32(const PrefillCall& call, Dtype dtype, TileLoop loop,
                                cudaStream_t stream) {
  return dtype == Dtype::tf32 ? launch<Dtype::tf32>(call, loop, stream)
                              : launch<Dtype::fp32>(call, loop, stream);
}

}  // namespace swa::portable
