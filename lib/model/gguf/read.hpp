// Private to this room: the model that the key-value pairs of a GGUF file describe.
#pragma once

#include <string>

#include "model/config.hpp"
#include "model/gguf/header.hpp"

namespace swa {

// As read_gguf() does; `path` names the file in complaints and, without folder and suffix, the
// model.
ConfigReading model_from_gguf(const GgufHeader& header, const std::string& path);

}  // namespace swa
