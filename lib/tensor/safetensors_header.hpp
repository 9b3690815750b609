// Private to this room: the JSON of a safetensors file's header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tensor/safetensors.hpp"
#include "tensor/source.hpp"

namespace swa {

inline constexpr std::string_view kMetadataKey = "__metadata__";

// "F16".
std::string_view safetensors_name(Dtype dtype);

struct SafetensorsHeader {
  std::vector<SafetensorsFile::Entry> entries;
  Metadata metadata;
};

// The entries of a header as they stand there; `data_bytes` follow it. Of each entry the range lies
// within them and is as long as its elements are. Throws UsageError that names the source.
SafetensorsHeader parse_safetensors_header(const Source& source, const std::string& text,
                                           Index data_bytes);

}  // namespace swa
