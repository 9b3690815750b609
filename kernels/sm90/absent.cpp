// Stands for the kernels for Hopper in a build with kernels for other GPUs only.
#include "kernels/sm90/launch.hpp"

namespace swa::sm90 {

bool compiled() {
  return false;
}

cudaError_t launch_band(const BandPlan& /*plan*/, const BandCall& /*call*/, Index /*tokens_q*/,
                        Index /*entries*/, Dtype /*dtype*/, cudaStream_t /*stream*/) {
  return cudaErrorNoKernelImageForDevice;
}

}  // namespace swa::sm90
