// CUDA calls that cannot fail unseen.
#pragma once

#include <cuda_runtime_api.h>

namespace swa::device {

// Throws CannotRun where the device's memory does not suffice, else std::runtime_error; either
// names the call and the error.
void require(cudaError_t error, const char* call);

}  // namespace swa::device

#define SWA_CUDA(call) ::swa::device::require(call, #call)
