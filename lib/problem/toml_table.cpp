#include "problem/toml_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

namespace swa {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxBytes = std::size_t{16} << 20;

// No more than kMaxBytes, whatever grows meanwhile.
std::string read_file(const std::string& path) {
  std::error_code trouble;
  const fs::file_status status = fs::status(path, trouble);
  if (!fs::exists(status)) throw TomlError(fmt::format("{} cannot be found", path));
  if (!fs::is_regular_file(status)) {
    throw TomlError(fmt::format("{} is not a regular file", path),
                    "write the tables to a file first");
  }
  std::ifstream file(path, std::ios::binary);
  const auto buffer = std::make_unique_for_overwrite<char[]>(kMaxBytes + 1);
  if (file) file.read(buffer.get(), kMaxBytes + 1);
  if (!file && !file.eof()) throw TomlError(fmt::format("{} cannot be read", path));
  std::string text(buffer.get(), static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxBytes) {
    throw TomlError(fmt::format("{} has more than 16 MiB", path), "split it into several files");
  }
  return text;
}

// Each dot of a key makes a table within a table, and one that is too deep exhausts the stack when
// it is destroyed. A key lies within a line.
void refuse_deep_keys(const std::string& path, std::string_view text) {
  constexpr std::ptrdiff_t kMaxDots = 200;
  std::size_t line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view one = text.substr(begin, end - begin);
    if (std::count(one.begin(), one.end(), '.') > kMaxDots) {
      throw TomlError(fmt::format("{}:{}: the line has more than {} dots", path, line, kMaxDots),
                      "break the line, or write shorter keys");
    }
    begin = end + 1;
  }
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

toml::table parse(const std::string& path) {
  const std::string text = read_file(path);
  refuse_deep_keys(path, text);
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw TomlError(fmt::format("{}:{}: {}", path, error.source().begin.line,
                                std::string(error.description())));
  }
}

}  // namespace

void TomlTable::fail(std::string_view key, std::string_view what, const std::string& remedy) const {
  const toml::node* node = table_.get(key);
  const auto line = (node != nullptr ? node->source() : table_.source()).begin.line;
  throw TomlError(fmt::format("{}:{}: '{}' {}", path_, line, key, what), remedy);
}

void TomlTable::refuse_other_keys(std::initializer_list<std::string_view> known) const {
  for (const auto& [key, node] : table_) {
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
      fail(key.str(), fmt::format("is not a key of [[{}]]", kind_),
           fmt::format("choose from {}", fmt::join(known, ", ")));
    }
  }
}

std::string TomlTable::checked(std::string_view key,
                               const std::optional<std::string>& value) const {
  if (!value || value->empty()) fail(key, "is missing, empty or not a string");
  if (std::any_of(value->begin(), value->end(), is_control)) fail(key, "has a control character");
  return *value;
}

std::string TomlTable::text(std::string_view key) const {
  return checked(key, table_[key].value_exact<std::string>());
}

std::vector<std::string> TomlTable::texts(std::string_view key) const {
  const toml::array* array = table_[key].as_array();
  if (array == nullptr || array->empty()) fail(key, "is missing, empty or not an array");
  std::vector<std::string> values;
  for (const toml::node& node : *array) {
    values.push_back(checked(key, node.value_exact<std::string>()));
  }
  return values;
}

std::string TomlTable::choice(std::string_view key, const std::vector<std::string>& words) const {
  const std::string value = text(key);
  if (std::find(words.begin(), words.end(), value) == words.end()) {
    fail(key, fmt::format("is none of {}", fmt::join(words, ", ")));
  }
  return value;
}

Index TomlTable::in_range(std::string_view key, const std::optional<Index>& value, Index least,
                          Index most) const {
  if (!value) fail(key, "is missing or not a whole number");
  if (*value < least || *value > most) {
    fail(key, fmt::format("is not within {} .. {}", least,
                          most == kMaxIndex ? "2^60" : fmt::format("{}", most)));
  }
  return *value;
}

Index TomlTable::count(std::string_view key, Index least, Index most) const {
  return in_range(key, table_[key].value_exact<std::int64_t>(), least, most);
}

std::vector<Index> TomlTable::counts(std::string_view key, Index least, Index most) const {
  const toml::array* array = table_[key].as_array();
  if (array == nullptr || array->empty()) fail(key, "is missing, empty or not an array");
  std::vector<Index> values;
  for (const toml::node& node : *array) {
    values.push_back(in_range(key, node.value_exact<std::int64_t>(), least, most));
  }
  return values;
}

double TomlTable::real(std::string_view key) const {
  const auto value = table_[key].value<double>();
  if (!value || !std::isfinite(*value)) fail(key, "is missing or not a finite number");
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
  const toml::table file = parse(path);
  const toml::array* tables = file[kind].as_array();
  if (tables == nullptr || tables->empty()) {
    throw TomlError(fmt::format("{} has no [[{}]]", path, kind));
  }
  for (const toml::node& node : *tables) {
    const toml::table* table = node.as_table();
    if (table == nullptr) throw TomlError(fmt::format("{}: '{}' is not a table", path, kind));
    read(TomlTable(path, kind, *table));
  }
}

}  // namespace swa
