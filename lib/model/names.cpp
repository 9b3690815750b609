#include "model/names.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace swa {
namespace {

bool is_sign(char c) {
  return c == '-' || c == '_' || c == '.' || c == ' ';
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower(c);
  return result;
}

// Lower-case letters and digits alone; a number after the first keeps its point, so that 1.2 and 12
// differ.
std::string plain(std::string_view name) {
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool between_digits = name[i] == '.' && i > 0 && i + 1 < name.size() &&
                                name[i - 1] >= '0' && name[i - 1] <= '9' && name[i + 1] >= '0' &&
                                name[i + 1] <= '9';
    if (!is_sign(name[i]) || between_digits) result += lower(name[i]);
  }
  return result;
}

// Without the endings that name a variant of the same shape.
std::string_view stem(std::string_view name) {
  constexpr std::array<std::string_view, 7> kEndings{"-it",   "-pt",       "-instruct", "-chat",
                                                     "-base", "-thinking", "-hf"};
  const std::string small = lower(name);
  for (const std::string_view ending : kEndings) {
    if (small.size() > ending.size() && small.ends_with(ending)) {
      return name.substr(0, name.size() - ending.size());
    }
  }
  return name;
}

std::string_view after_slash(std::string_view name) {
  return name.substr(name.find('/') == name.npos ? 0 : name.find('/') + 1);
}

bool is_called(const Model& model, std::string_view name, bool by_stem) {
  const auto form = [&](std::string_view text) { return plain(by_stem ? stem(text) : text); };
  const std::string wanted = form(name);
  const auto matches = [&](std::string_view known) { return form(known) == wanted; };
  return matches(model.id) || (!model.hf_id.empty() && matches(after_slash(model.hf_id))) ||
         std::any_of(model.aliases.begin(), model.aliases.end(), matches);
}

}  // namespace

const Model* find_model(const std::vector<Model>& models, std::string_view typed) {
  const bool has_publisher = typed.find('/') != typed.npos;
  const std::string publisher = lower(typed.substr(0, typed.find('/')));
  for (const bool by_stem : {false, true}) {
    for (const Model& model : models) {
      const bool is_theirs =
          !has_publisher || lower(std::string_view(model.hf_id)).starts_with(publisher + "/");
      if (is_theirs && is_called(model, after_slash(typed), by_stem)) return &model;
    }
  }
  return nullptr;
}

}  // namespace swa
