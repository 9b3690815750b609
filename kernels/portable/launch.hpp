// The compiled instances of the portable kernels, for the host.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/launch/decode_call.hpp"
#include "kernels/launch/prefill_call.hpp"
#include "tensor/dtype.hpp"

namespace swa::portable {

// Start the instance for elements of `dtype` and the head dims of call.params. Return
// cudaErrorInvalidValue where there is none.
cudaError_t launch_prefill(const PrefillCall& call, Dtype dtype, PrefillVariant variant,
                           cudaStream_t stream);
// Of fp32 or tf32.
cudaError_t launch_prefill_fp32(const PrefillCall& call, Dtype dtype, TileLoop loop,
                                cudaStream_t stream);
// Of bf16.
cudaError_t launch_planted(const PrefillCall& call, Planted planted, cudaStream_t stream);
cudaError_t launch_decode(const DecodeCall& call, Dtype dtype, Scores scores, cudaStream_t stream);

}  // namespace swa::portable
