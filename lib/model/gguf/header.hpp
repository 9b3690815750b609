// Private to this room: what stands at the head of a GGUF file.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tensor/source.hpp"

namespace swa {

struct GgufValue {
  std::string type;  // "uint32", or "array of 262144 string"
  // A boolean, number, short string, or short array of booleans or numbers; null for what is
  // skipped: arrays of strings, and whatever is long.
  nlohmann::json value;
};

// By key, such as "gemma3.block_count".
using GgufHeader = std::map<std::string, GgufValue>;

// The key-value pairs of a file of version 2 or 3, little-endian; no tensor is read or looked for.
// Throws UsageError that names the source, and where it can the key and the byte at which it
// stands.
GgufHeader read_gguf_header(const Source& source);

}  // namespace swa
