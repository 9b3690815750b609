#include "model/libraries.hpp"

#include <fmt/format.h>

#include "problem/toml_table.hpp"

namespace swa {

std::string toml_version() {
  return fmt::format("{}.{}.{}", TOML_LIB_MAJOR, TOML_LIB_MINOR, TOML_LIB_PATCH);
}

}  // namespace swa
