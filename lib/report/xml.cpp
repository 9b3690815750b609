#include "report/xml.hpp"

#include <fmt/format.h>

#include "report/writers.hpp"

namespace swa::report {
namespace {

bool xml_holds(char32_t c) {
  return (c >= 0x20 && c != 0xFFFE && c != 0xFFFF) || c == '\t' || c == '\n' || c == '\r';
}

// A reader turns bare line ends and tabs of an attribute into blanks, and a bare carriage return
// into a line end.
std::string escaped(std::string_view text, bool attribute) {
  std::string out;
  while (!text.empty()) {
    const CodePoint c = decode(text);
    const bool layout = c.value == '\r' || (attribute && (c.value == '\n' || c.value == '\t'));
    if (c.value == '&') {
      out += "&amp;";
    } else if (c.value == '<') {
      out += "&lt;";
    } else if (c.value == '>') {
      out += "&gt;";
    } else if (c.value == '"' && attribute) {
      out += "&quot;";
    } else if (layout) {
      out += fmt::format("&#{};", static_cast<unsigned>(c.value));
    } else if (c.value == kReplacement || !xml_holds(c.value)) {
      out += "\uFFFD";
    } else {
      out += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace

std::string xml_text(std::string_view text) {
  return escaped(text, false);
}

std::string xml_attribute(std::string_view text) {
  return escaped(text, true);
}

}  // namespace swa::report
