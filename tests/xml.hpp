// A strict little reader of XML, for the figures: what it does not know it refuses.
#pragma once

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace swa::test {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // its own, entities resolved
  std::vector<Element> children;

  const std::string& at(const std::string& attribute) const { return attributes.at(attribute); }
  double number(const std::string& attribute) const {
    std::size_t used = 0;
    const double value = std::stod(at(attribute), &used);
    if (used != at(attribute).size()) throw std::runtime_error(attribute + " is not a number");
    return value;
  }
  // Direct children of that name.
  std::vector<const Element*> all(const std::string& child) const {
    std::vector<const Element*> found;
    for (const Element& element : children) {
      if (element.name == child) found.push_back(&element);
    }
    return found;
  }
  // The groups of that class among its children.
  std::vector<const Element*> groups(const std::string& name_of_class) const {
    std::vector<const Element*> found;
    for (const Element* group : all("g")) {
      if (group->at("class") == name_of_class) found.push_back(group);
    }
    return found;
  }
};

// Throws std::runtime_error unless the document is a declaration and one element, all tags closed
// in order, all attributes quoted and named once, no bare & < >, no control characters, no
// comments, and no id given twice.
class XmlReader {
 public:
  static Element read(const std::string& text) { return XmlReader(text).document(); }

 private:
  explicit XmlReader(const std::string& text) : text_(text) {}

  Element document() {
    for (const char c : text_) {
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t')
        fail("a control character");
    }
    expect("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    Element root = element();
    expect("\n");
    if (at_ != text_.size()) fail("something after the root");
    return root;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(what + " at byte " + std::to_string(at_));
  }
  bool next_is(const std::string& token) const {
    return text_.compare(at_, token.size(), token) == 0;
  }
  void expect(const std::string& token) {
    if (!next_is(token)) fail("no '" + token + "'");
    at_ += token.size();
  }
  char take() {
    if (at_ >= text_.size()) fail("the end");
    return text_[at_++];
  }

  std::string name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '-' || text_[at_] == ':')) {
      ++at_;
    }
    if (at_ == begin) fail("no name");
    return text_.substr(begin, at_ - begin);
  }

  // One character of a text or of a value, an entity resolved.
  std::string character() {
    const char c = take();
    if (c == '<' || c == '>') fail("a bare bracket");
    if (c != '&') return {c};
    static const std::map<std::string, std::string> kEntities{
        {"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"quot", "\""}};
    if (next_is("#")) return numbered();
    const std::string entity = name();
    expect(";");
    if (!kEntities.contains(entity)) fail("the entity " + entity);
    return kEntities.at(entity);
  }

  // A character below 0x80 by its number, as line ends and tabs of an attribute are written.
  std::string numbered() {
    expect("#");
    const int code = std::stoi(name());
    expect(";");
    if (code != '\n' && code != '\t' && code != '\r') fail("a number for a character");
    return {static_cast<char>(code)};
  }

  void attribute(Element& element) {
    const std::string key = name();
    expect("=\"");
    std::string value;
    while (!next_is("\"")) {
      if (next_is("\n") || next_is("\t")) fail("a bare line end or tab in a value");
      value += character();
    }
    expect("\"");
    if (key == "id" && !ids_.insert(value).second) fail("the id " + value + " again");
    if (!element.attributes.emplace(key, value).second) fail(key + " again");
  }

  Element element() {
    expect("<");
    Element element;
    element.name = name();
    while (next_is(" ")) {
      expect(" ");
      attribute(element);
    }
    if (next_is("/>")) {
      expect("/>");
      return element;
    }
    expect(">");
    while (!next_is("</")) {
      if (next_is("<")) {
        element.children.push_back(this->element());
      } else {
        element.text += character();
      }
    }
    expect("</" + element.name + ">");
    return element;
  }

  const std::string& text_;
  std::size_t at_ = 0;
  std::set<std::string> ids_;
};

// Every element of that name, wherever it stands.
inline void collect(const Element& root, const std::string& name,
                    std::vector<const Element*>& found) {
  if (root.name == name) found.push_back(&root);
  for (const Element& child : root.children) collect(child, name, found);
}
inline std::vector<const Element*> everywhere(const Element& root, const std::string& name) {
  std::vector<const Element*> found;
  collect(root, name, found);
  return found;
}
inline bool says(const Element& root, const std::string& text) {
  const std::vector<const Element*> texts = everywhere(root, "text");
  return std::any_of(texts.begin(), texts.end(),
                     [&](const Element* element) { return element->text == text; });
}

}  // namespace swa::test
