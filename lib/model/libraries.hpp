#pragma once

#include <string>

namespace swa {

// Of the toml++ headers that this library was compiled with, such as "3.3.0".
std::string toml_version();

}  // namespace swa
