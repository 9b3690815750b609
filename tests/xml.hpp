// A reader of XML for the tests: elements, attributes and text, without the parts that our writer
// never uses. Throws std::runtime_error for what is not well formed.
#pragma once

#include <cctype>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace swa::test {

struct Xml {
  std::string name, text;
  std::map<std::string, std::string> attributes;
  std::vector<Xml> children;

  std::vector<const Xml*> all(const std::string& wanted) const {
    std::vector<const Xml*> found;
    for (const Xml& child : children) {
      if (child.name == wanted) found.push_back(&child);
      for (const Xml* deeper : child.all(wanted)) found.push_back(deeper);
    }
    return found;
  }
};

class XmlReader {
 public:
  explicit XmlReader(const std::string& text) : text_(text) {}

  Xml document() {
    expect("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
    blanks();
    Xml root = element();
    blanks();
    if (at_ != text_.size()) fail("text after the root");
    return root;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error("XML: " + why + " at byte " + std::to_string(at_));
  }
  bool take(const std::string& word) {
    if (text_.compare(at_, word.size(), word) != 0) return false;
    at_ += word.size();
    return true;
  }
  void expect(const std::string& word) {
    if (!take(word)) fail("expected " + word);
  }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  std::string word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    if (at_ == begin) fail("expected a name");
    return text_.substr(begin, at_ - begin);
  }

  // Characters up to `end`, references resolved.
  std::string characters(char end, const std::string& forbidden) {
    static const std::map<std::string, std::string> kReferences{
        {"&amp;", "&"}, {"&lt;", "<"},   {"&gt;", ">"},   {"&quot;", "\""},
        {"&#9;", "\t"}, {"&#10;", "\n"}, {"&#13;", "\r"},
    };
    std::string result;
    while (at_ < text_.size() && text_[at_] != end) {
      const char c = text_[at_];
      if (forbidden.find(c) != std::string::npos) fail("a bare character of the markup");
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t')
        fail("a control character");
      if (c != '&') {
        result += c;
        ++at_;
        continue;
      }
      const std::size_t semicolon = text_.find(';', at_);
      if (semicolon == std::string::npos) fail("a bare ampersand");
      const auto found = kReferences.find(text_.substr(at_, semicolon + 1 - at_));
      if (found == kReferences.end()) fail("an unknown reference");
      result += found->second;
      at_ = semicolon + 1;
    }
    return result;
  }

  Xml element() {
    Xml result;
    expect("<");
    result.name = word();
    while (take(" ")) {
      const std::string key = word();
      expect("=\"");
      if (!result.attributes.emplace(key, characters('"', "<\n\t")).second) fail("a key twice");
      expect("\"");
    }
    if (take("/>")) return result;
    expect(">");
    while (!take("</")) {
      result.text += characters('<', "");
      if (at_ >= text_.size()) fail("no end of " + result.name);
      if (text_.compare(at_, 2, "</") != 0) result.children.push_back(element());
    }
    expect(result.name + ">");
    return result;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

inline Xml read_xml(const std::string& text) {
  return XmlReader(text).document();
}

}  // namespace swa::test
