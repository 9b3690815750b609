// The kernels that run on a GPU, for a host that may have none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "verify/kernel.hpp"

namespace swa {

// The GPU kernels of this build; empty in a build without CUDA.
std::vector<Kernel> gpu_kernels();

// Why the GPU kernels cannot run here, as a clause for "GPU kernels: not run, ..."; empty where
// they can.
std::string gpu_absence();

// Name patterns that belong to GPU kernels, in any build: asking for one that is absent is a fair
// question which this build cannot answer, not a misspelt name.
const std::vector<std::string_view>& gpu_kernel_families();

}  // namespace swa
