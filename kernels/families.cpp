#include "kernels/forward.hpp"

namespace swa {

const std::vector<std::string_view>& gpu_kernel_families() {
  static const std::vector<std::string_view> kFamilies{"naive", "portable-*", "sm90-*"};
  return kFamilies;
}

}  // namespace swa
