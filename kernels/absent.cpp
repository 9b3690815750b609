// The GPU kernels of a build without CUDA: none.
#include "kernels/forward.hpp"

namespace swa {

std::vector<Kernel> gpu_kernels() {
  return {};
}

std::optional<Oracle> gpu_oracle(const Problem& /*problem*/, const Inputs& /*inputs*/) {
  return std::nullopt;
}

std::string gpu_absence() {
  return "this build has no CUDA kernels";
}

}  // namespace swa
