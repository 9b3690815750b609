// Tables of a TOML file, read with complaints that name file, line and key. Used by the rooms that
// read such files, problem and model.
#pragma once

#include <toml++/toml.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "mask/window.hpp"

namespace swa {

class TomlTable {
 public:
  TomlTable(const std::string& path, std::string_view kind, const toml::table& table)
      : path_(path), kind_(kind), table_(table) {}

  // Throws UsageError "PATH:LINE: 'KEY' WHAT"; the line is the table's where it lacks the key.
  [[noreturn]] void fail(std::string_view key, std::string_view what) const;

  void refuse_other_keys(std::initializer_list<std::string_view> known) const;
  bool has(std::string_view key) const { return table_.contains(key); }
  // Both throw where the key is missing or of another type, or its value empty or out of range.
  std::string text(std::string_view key) const;
  Index count(std::string_view key, Index least, Index most) const;
  // A table without the key has `usual`.
  bool flag(std::string_view key, bool usual) const;

 private:
  const std::string& path_;
  std::string_view kind_;
  const toml::table& table_;
};

// Calls read(table) for each [[kind]] of the file. Throws UsageError where the file cannot be read
// or holds none.
void for_each_table(const std::string& path, std::string_view kind,
                    const std::function<void(const TomlTable&)>& read);

}  // namespace swa
