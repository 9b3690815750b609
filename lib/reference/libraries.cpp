#include "reference/libraries.hpp"

#include <fmt/format.h>

#include <Eigen/Core>

namespace swa {

std::string eigen_version() {
  return fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
}

}  // namespace swa
