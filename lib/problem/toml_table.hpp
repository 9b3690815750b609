// Tables of a TOML file, read with complaints that name file, line and key. Used by the rooms that
// read such files, problem and model.
#pragma once

// The code of toml++ is in its headers, so all of it is included here, with the same settings. It
// reads nested values by recursion. Of a line that is "[" it asserts, in a debug build, what it
// then refuses with an error.
#define TOML_MAX_NESTED_VALUES 16
#define TOML_ASSERT(expression) static_assert(true)
#include "problem/tomlplusplus.hpp"

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "error.hpp"
#include "mask/window.hpp"

namespace swa {

// A complaint that names file and line.
class TomlError : public UsageError {
 public:
  using UsageError::UsageError;
};

class TomlTable {
 public:
  TomlTable(const std::string& path, std::string_view kind, const toml::table& table)
      : path_(path), kind_(kind), table_(table) {}

  // Throws TomlError "PATH:LINE: 'KEY' WHAT"; the line is the table's where it lacks the key.
  [[noreturn]] void fail(std::string_view key, std::string_view what,
                         const std::string& remedy = {}) const;

  void refuse_other_keys(std::initializer_list<std::string_view> known) const;
  bool has(std::string_view key) const { return table_.contains(key); }
  bool is_text(std::string_view key) const { return table_[key].is_string(); }
  // They throw where the key is missing or of another type, or its value empty or out of range.
  // A text has no control characters.
  std::string text(std::string_view key) const;
  std::string choice(std::string_view key, const std::vector<std::string>& words) const;
  Index count(std::string_view key, Index least, Index most) const;
  // An array of at least one count.
  std::vector<Index> counts(std::string_view key, Index least, Index most) const;
  // An array of at least one text.
  std::vector<std::string> texts(std::string_view key) const;
  // A finite number, whole or not.
  double real(std::string_view key) const;
  // A table without the key has `usual`.
  bool flag(std::string_view key, bool usual) const;

 private:
  std::string checked(std::string_view key, const std::optional<std::string>& value) const;
  Index in_range(std::string_view key, const std::optional<Index>& value, Index least,
                 Index most) const;

  const std::string& path_;
  std::string_view kind_;
  const toml::table& table_;
};

// Calls read(table) for each [[kind]] of the file. Throws TomlError where the file cannot be read
// or holds none, is not a regular file, or has more than 16 MiB, 200 dots in a line or 16 values
// inside one another.
void for_each_table(const std::string& path, std::string_view kind,
                    const std::function<void(const TomlTable&)>& read);

}  // namespace swa
