// What the head of a file tells before it is loaded. Private to this room.
#pragma once

#include <optional>
#include <string>

namespace swa {

// The loader of the C library is vague about these: why the file is no shared library for this
// processor, as a clause after "the plug-in cannot be loaded: "; nothing where it may be one.
std::optional<std::string> why_no_library(const std::string& path);

}  // namespace swa
