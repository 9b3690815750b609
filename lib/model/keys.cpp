#include "model/keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "error.hpp"
#include "tensor/source.hpp"

namespace swa {
namespace {

using Json = nlohmann::json;

std::string describe(const Json& value) {
  constexpr std::size_t kFew = 8;
  if (value.is_object()) return "an object";
  if (value.is_array() && value.size() > kFew) {
    return fmt::format("a list of {} entries", value.size());
  }
  if (value.is_string()) return quote(value.get_ref<const std::string&>());
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  constexpr std::size_t kLongest = 60;
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

// A key that the file alone has chosen: short, and without control characters.
std::string printable(std::string_view key) {
  constexpr std::size_t kLongest = 100;
  std::string text(key.substr(0, kLongest));
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  std::replace_if(text.begin(), text.end(), is_control, '?');
  return text;
}

}  // namespace

const Json* ConfigKeys::peek(std::string_view key) const {
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

bool ConfigKeys::has(std::string_view key) const {
  const Json* found = peek(key);
  return found != nullptr && !found->is_null();
}

const Json* ConfigKeys::value(std::string_view key) {
  const Json* found = peek(key);
  if (found != nullptr) read_.emplace(key);
  return found;
}

std::optional<Index> ConfigKeys::whole(std::string_view key) {
  const Json* found = value(key);
  if (found == nullptr || found->is_null()) return std::nullopt;
  return to_whole(key, *found);
}

std::optional<Index> ConfigKeys::count(std::string_view key, Index least, Index most) {
  const std::optional<Index> number = whole(key);
  if (!number) return std::nullopt;
  return in_range(key, *number, least, most);
}

std::optional<double> ConfigKeys::real(std::string_view key) {
  const Json* found = value(key);
  if (found == nullptr || found->is_null()) return std::nullopt;
  if (!found->is_number()) fail(key, fmt::format("= {} is not a number", describe(*found)));
  const double number = found->get<double>();
  if (!(number > 0 && std::isfinite(number))) {
    fail(key, fmt::format("= {} is not a finite number above 0", describe(*found)));
  }
  return number;
}

std::optional<double> ConfigKeys::positive(std::string_view key) {
  const Json* found = value(key);
  if (found != nullptr && found->is_number() && found->get<double>() == 0) return std::nullopt;
  return real(key);
}

std::optional<bool> ConfigKeys::flag(std::string_view key) {
  const Json* found = value(key);
  if (found == nullptr || found->is_null()) return std::nullopt;
  if (!found->is_boolean()) {
    fail(key, fmt::format("= {} is neither true nor false", describe(*found)));
  }
  return found->get<bool>();
}

std::optional<std::string> ConfigKeys::text(std::string_view key) {
  const Json* found = value(key);
  if (found == nullptr || found->is_null()) return std::nullopt;
  if (!found->is_string()) fail(key, fmt::format("= {} is not a string", describe(*found)));
  return found->get<std::string>();
}

std::optional<std::vector<Index>> ConfigKeys::counts(std::string_view key, Index least,
                                                     Index most) {
  const Json* found = value(key);
  if (found == nullptr || found->is_null()) return std::nullopt;
  std::vector<Index> numbers;
  for (const Json& entry : list(key, *found)) {
    numbers.push_back(in_range(key, to_whole(key, entry), least, most));
  }
  return numbers;
}

std::optional<std::vector<Index>> ConfigKeys::widths(std::string_view key) {
  const Json* found = value(key);
  if (found == nullptr || found->is_null()) return std::nullopt;
  std::vector<Index> numbers;
  for (const Json& entry : list(key, *found)) {
    numbers.push_back(entry.is_null() ? 0 : to_whole(key, entry));
  }
  return numbers;
}

std::optional<std::vector<std::string>> ConfigKeys::words(std::string_view key) {
  const Json* found = value(key);
  if (found == nullptr || found->is_null()) return std::nullopt;
  std::vector<std::string> texts;
  for (const Json& entry : list(key, *found)) {
    if (!entry.is_string()) {
      fail(key, fmt::format("has the entry {}, which is not a string", describe(entry)));
    }
    texts.push_back(entry.get<std::string>());
  }
  return texts;
}

std::optional<ConfigKeys> ConfigKeys::object(std::string_view key) {
  const Json* found = value(key);
  if (found == nullptr || found->is_null()) return std::nullopt;
  if (!found->is_object()) fail(key, fmt::format("= {} is not an object", describe(*found)));
  return ConfigKeys(*found, path_, fmt::format("{}{}.", prefix_, key), architecture_, reading_);
}

std::optional<ConfigKeys::Named> ConfigKeys::whole_of(
    std::initializer_list<std::string_view> keys) {
  std::optional<Named> first;
  for (const std::string_view key : keys) {
    const std::optional<Index> number = whole(key);
    if (!number) continue;
    if (!first) first = Named{std::string(key), *number};
    if (first->value != *number) {
      fail(key, fmt::format("= {} contradicts '{}' = {}", *number, shown(first->key), first->value),
           "keep the one that holds");
    }
  }
  return first;
}

std::optional<ConfigKeys::Named> ConfigKeys::count_of(std::initializer_list<std::string_view> keys,
                                                      Index least, Index most) {
  std::optional<Named> stated = whole_of(keys);
  if (stated) in_range(stated->key, stated->value, least, most);
  return stated;
}

void ConfigKeys::check_layers(std::string_view key, const std::vector<Index>& numbers, Index layers,
                              Index first) const {
  for (const Index number : numbers) {
    if (number < first || number >= first + layers) {
      fail(key, fmt::format("names layer {}, and the layers are {} .. {}", number, first,
                            first + layers - 1));
    }
  }
}

std::string ConfigKeys::shown(std::string_view key) const {
  return fmt::format("{}{}", prefix_, key);
}

std::string ConfigKeys::source_of(std::string_view key) const {
  return has(key) ? shown(key) : class_default();
}

std::string ConfigKeys::shown_value(std::string_view key) const {
  const Json* found = peek(key);
  return found == nullptr ? "missing" : describe(*found);
}

void ConfigKeys::fail(std::string_view key, std::string_view what,
                      const std::string& remedy) const {
  throw UsageError(fmt::format("{}: '{}' {}", path_, shown(key), what),
                   remedy.empty() ? "give the file as its publisher wrote it" : remedy);
}

void ConfigKeys::origin(const std::string& quantity, const std::string& value,
                        const std::string& from) const {
  reading_.origins.push_back({quantity, value, from});
}

void ConfigKeys::ignore(std::string_view key, std::string_view reason) {
  if (!has(key)) return;
  read_.emplace(key);
  const std::string name = printable(shown(key));
  if (!noted_.insert(name).second) return;
  reading_.ignored.push_back({name, shown_value(key), std::string(reason)});
}

std::vector<std::string> ConfigKeys::unread() const {
  std::vector<std::string> keys;
  for (const auto& [key, entry] : object_.items()) {
    if (!entry.is_null() && read_.find(key) == read_.end()) keys.push_back(key);
  }
  return keys;
}

Index ConfigKeys::to_whole(std::string_view key, const Json& value) const {
  const bool is_whole = value.is_number_integer();
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<Index>::max());
  if (!is_whole || (value.is_number_unsigned() && value.get<std::uint64_t>() > kMost)) {
    fail(key, fmt::format("= {} is not a whole number{}", describe(value),
                          is_whole ? " below 2^63" : ""));
  }
  return value.get<Index>();
}

Index ConfigKeys::in_range(std::string_view key, Index value, Index least, Index most) const {
  if (value < least || value > most) {
    fail(key, fmt::format("= {} is not within {} .. {}", value, least,
                          most == kMaxIndex ? "2^60" : fmt::format("{}", most)));
  }
  return value;
}

void ConfigKeys::check_length(std::string_view key, std::size_t entries, Index layers) const {
  const auto wanted = static_cast<std::size_t>(layers);
  if (entries < wanted) {
    fail(key, fmt::format("has {} entries for {} layers", entries, layers));
  }
  if (entries > wanted) {
    warn(fmt::format("{} has {} entries for {} layers: the last {} are left out", shown(key),
                     entries, layers, entries - wanted));
  }
}

const Json& ConfigKeys::list(std::string_view key, const Json& value) const {
  if (!value.is_array()) fail(key, fmt::format("= {} is not a list", describe(value)));
  return value;
}

}  // namespace swa
