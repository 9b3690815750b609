#include "model/gguf/keys.hpp"

#include <fmt/format.h>

namespace swa {

Index GgufKeys::required(std::string_view key, Index least, Index most) {
  const std::optional<Index> number = count(key, least, most);
  if (!number) fail(key, "is missing");
  return *number;
}

bool GgufKeys::is_list(std::string_view key) {
  const nlohmann::json* found = value(key);
  return found != nullptr && found->is_array();
}

std::optional<std::vector<Index>> GgufKeys::each(std::string_view key, Index layers, Index least,
                                                 Index most) {
  if (is_list(key)) {
    auto numbers = counts(key, least, most);
    one_each(key, *numbers, layers);
    return numbers;
  }
  const std::optional<Index> number = count(key, least, most);
  if (!number) return std::nullopt;
  return std::vector<Index>(static_cast<std::size_t>(layers), *number);
}

std::string GgufKeys::source(std::string_view key) const {
  return fmt::format("{} (GGUF header)", shown(key));
}

void GgufKeys::say(const std::string& quantity, const std::string& value,
                   std::string_view key) const {
  origin(quantity, value, source(key));
}

}  // namespace swa
