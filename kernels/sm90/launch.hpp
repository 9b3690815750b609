// Launches the kernels for Hopper, for the host.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/launch/band.hpp"
#include "kernels/sm90/band_call.hpp"
#include "tensor/dtype.hpp"

namespace swa::sm90 {

// Whether this build has machine code for them.
bool compiled();

// call.params are those of the launch; the rest of the call was planned. Returns
// cudaErrorInvalidValue where there is no such instance, and where a tensor does not begin, or
// step, at multiples of 16 bytes.
cudaError_t launch_band(const BandPlan& plan, const BandCall& call, Index tokens_q, Index entries,
                        Dtype dtype, cudaStream_t stream);

}  // namespace swa::sm90
