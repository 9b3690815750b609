// Random numbers made on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "mask/window.hpp"
#include "tensor/dtype.hpp"

namespace swa::device {

// `count` standard normal numbers, rounded to `dtype` (2 bytes or more): number i depends on seed,
// stream and i alone (Philox 4x32-10, J. Salmon et al., SC 2011, and the transform of Box and
// Muller).
cudaError_t fill_normal(void* to, Dtype dtype, Index count, std::uint64_t seed,
                        std::uint32_t stream);

// How many of `count` elements are NaN or infinite, added to *total on the device.
cudaError_t count_nonfinite(const void* from, Dtype dtype, Index count, unsigned long long* total);

}  // namespace swa::device
