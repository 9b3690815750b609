#pragma once

#include <string>

namespace swa {

// Of the nlohmann-json headers that this library was compiled with, such as "3.11.2".
std::string json_version();

}  // namespace swa
