// Private to this room: the keys of one architecture in a GGUF header, without its name:
// "attention.head_count" for "gemma3.attention.head_count".
#pragma once

#include "model/keys.hpp"

namespace swa {

class GgufKeys : public ConfigKeys {
 public:
  using ConfigKeys::ConfigKeys;

  // Throws UsageError where the key is missing, and as count() does.
  Index required(std::string_view key, Index least, Index most);
  bool is_list(std::string_view key);
  // One number a layer: a list holds them, and a number counts for all layers. Nothing where the
  // key is missing.
  std::optional<std::vector<Index>> each(std::string_view key, Index layers, Index least,
                                         Index most);

  // "KEY (GGUF header)", where a figure comes from.
  std::string source(std::string_view key) const;
  // As origin(), for a figure that the key states.
  void say(const std::string& quantity, const std::string& value, std::string_view key) const;
};

}  // namespace swa
