// The kernels that run on a GPU, for a host that may have none.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/oracle.hpp"
#include "verify/kernel.hpp"
#include "verify/plugin.hpp"

namespace swa {

// The GPU kernels of this build; empty in a build without CUDA.
std::vector<Kernel> gpu_kernels();

// The GPU kernels with a planted fault, each portable-planted:FAULT; empty where gpu_kernels() is.
std::vector<Kernel> planted_gpu_kernels();
// Their faults, names of the catalogue, in any build.
std::vector<std::string> planted_gpu_faults();
inline constexpr std::string_view kPlantedGpu = "portable-planted:";

// What one of gpu_kernels() returns for the layers of a stack that differ in their window: it is
// planned once, for the problem, and launched once for each window, on the same tensors. Throws as
// its run() does.
std::vector<Attention> gpu_layers(const std::string& kernel, const Problem& problem,
                                  const Inputs& inputs, const std::vector<Window>& windows);

// The oracle as the GPU's naive kernel computes it, in fp64 and from sees(): for what would take
// the CPU minutes. Nothing where there is no GPU, or where the problem is too large for it.
std::optional<Oracle> gpu_oracle(const Problem& problem, const Inputs& inputs);

// For plug-ins that want their tensors on the device; null where there is none.
std::unique_ptr<DeviceMirror> device_mirror();

// Why the GPU kernels cannot run here, as a clause for "GPU kernels: not run, ..."; empty where
// they can.
std::string gpu_absence();

// Name patterns that belong to GPU kernels, in any build: asking for one that is absent is a fair
// question which this build cannot answer, not a misspelt name.
const std::vector<std::string_view>& gpu_kernel_families();

}  // namespace swa
