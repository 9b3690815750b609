// The compiled instances of the portable prefill kernel, for the host.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/launch/prefill_call.hpp"
#include "tensor/dtype.hpp"

namespace swa::portable {

// One variant of the kernel: plain or general scores with the window in the loop bounds or in the
// mask, or plain scores, bounds and a planted fault.
struct PrefillVariant {
  Scores scores = Scores::plain;
  Walk walk = Walk::window;
  Planted planted = Planted::nothing;
};

// Starts the instance for elements of `dtype` and the head dims of call.params. Returns
// cudaErrorInvalidValue where there is none.
cudaError_t launch_prefill(const PrefillCall& call, Dtype dtype, PrefillVariant variant,
                           cudaStream_t stream);

}  // namespace swa::portable
