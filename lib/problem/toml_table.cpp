#include "problem/toml_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "error.hpp"

namespace swa {

void TomlTable::fail(std::string_view key, std::string_view what) const {
  const toml::node* node = table_.get(key);
  const auto line = (node != nullptr ? node->source() : table_.source()).begin.line;
  throw UsageError(fmt::format("{}:{}: '{}' {}", path_, line, key, what));
}

void TomlTable::refuse_other_keys(std::initializer_list<std::string_view> known) const {
  for (const auto& [key, node] : table_) {
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
      fail(key.str(), fmt::format("is not a key of [[{}]]", kind_));
    }
  }
}

std::string TomlTable::text(std::string_view key) const {
  const auto value = table_[key].value_exact<std::string>();
  if (!value || value->empty()) fail(key, "is missing, empty or not a string");
  return *value;
}

Index TomlTable::count(std::string_view key, Index least, Index most) const {
  const auto value = table_[key].value_exact<std::int64_t>();
  if (!value) fail(key, "is missing or not a whole number");
  if (*value < least || *value > most) {
    fail(key, fmt::format("is not within {} .. {}", least,
                          most == kMaxIndex ? "2^60" : fmt::format("{}", most)));
  }
  return *value;
}

bool TomlTable::flag(std::string_view key, bool usual) const {
  if (!has(key)) return usual;
  const auto value = table_[key].value_exact<bool>();
  if (!value) fail(key, "is neither true nor false");
  return *value;
}

void for_each_table(const std::string& path, std::string_view kind,
                    const std::function<void(const TomlTable&)>& read) {
  toml::table file;
  try {
    file = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}:{}: {}", path, error.source().begin.line,
                                 std::string(error.description())));
  }
  const toml::array* tables = file[kind].as_array();
  if (tables == nullptr || tables->empty()) {
    throw UsageError(fmt::format("{} has no [[{}]]", path, kind));
  }
  for (const toml::node& node : *tables) {
    const toml::table* table = node.as_table();
    if (table == nullptr) throw UsageError(fmt::format("{}: '{}' is not a table", path, kind));
    read(TomlTable(path, kind, *table));
  }
}

}  // namespace swa
