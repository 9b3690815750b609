// Words as XML holds them. Private to this room.
#pragma once

#include <string>
#include <string_view>

namespace swa::report {

// Between tags, and between the double quotes of an attribute. Code points that XML 1.0 cannot hold
// become U+FFFD.
std::string xml_text(std::string_view text);
std::string xml_attribute(std::string_view text);

}  // namespace swa::report
