#include "kernels/forward.hpp"
#include "kernels/launch/planted.hpp"

namespace swa {

const std::vector<std::string_view>& gpu_kernel_families() {
  static const std::vector<std::string_view> kFamilies{"naive", "portable-*", "sm90-*"};
  return kFamilies;
}

std::vector<std::string> planted_gpu_faults() {
  std::vector<std::string> names;
  for (const PlantedFault& one : kPlantedFaults) names.emplace_back(one.fault);
  return names;
}

}  // namespace swa
