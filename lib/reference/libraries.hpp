#pragma once

#include <string>

namespace swa {

// Of the Eigen headers that this library was compiled with, such as "3.4.0".
std::string eigen_version();

}  // namespace swa
