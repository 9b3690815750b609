// The GPU kernels of a build without CUDA: none.
#include "kernels/about.hpp"
#include "kernels/forward.hpp"

namespace swa {

std::vector<Kernel> gpu_kernels() {
  return {};
}

std::string gpu_absence() {
  return "this build has no CUDA kernels";
}

CudaFacts cuda_facts() {
  return {};
}

}  // namespace swa
