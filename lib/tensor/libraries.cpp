#include "tensor/libraries.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace swa {

std::string json_version() {
  return fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                     NLOHMANN_JSON_VERSION_PATCH);
}

}  // namespace swa
