// What a build knows of CUDA and of the GPUs here, for a host that may have neither.
#pragma once

#include <string>
#include <vector>

#include "kernels/device/device.hpp"

namespace swa {

struct CudaFacts {
  // The version of CUDA that is compiled in, such as "13.0", and the GPUs that the kernels were
  // compiled for, in words: "sm_80, sm_90a". Empty in a build without CUDA kernels.
  std::string runtime, archs;
  // The newest version of CUDA that the driver here can; empty where there is no driver.
  std::string driver;
  // The GPUs here. gpu_absence() of forward.hpp says whether the kernels run on them.
  std::vector<device::Facts> devices;
};

CudaFacts cuda_facts();

}  // namespace swa
