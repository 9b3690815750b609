// Typed access to the keys of a config.json or a GGUF header. What is read, and what is not, is
// remembered: both belong into the account of where the figures of a model come from.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/config.hpp"

namespace swa {

class ConfigKeys {
 public:
  // `prefix` says where the object lies in the file, such as "text_config."; `architecture` is its
  // name in sentences, and may be empty. Object, path and reading outlive the keys.
  ConfigKeys(const nlohmann::json& object, const std::string& path, const std::string& prefix,
             const std::string& architecture, ConfigReading& reading)
      : object_(object),
        path_(path),
        prefix_(prefix),
        architecture_(architecture.empty() ? "an architecture without a name" : architecture),
        reading_(reading) {}

  // nullptr where the key is missing; it does not count as read.
  const nlohmann::json* peek(std::string_view key) const;
  bool is_there(std::string_view key) const { return peek(key) != nullptr; }
  // There, and not null.
  bool has(std::string_view key) const;

  // Nothing where the key is missing or null. They throw where the value is of another type or out
  // of range; a number with a fraction or an exponent is no whole number.
  std::optional<Index> whole(std::string_view key);
  std::optional<Index> count(std::string_view key, Index least, Index most);
  std::optional<double> real(std::string_view key);
  // The same with nothing for 0, which stands for none.
  std::optional<double> positive(std::string_view key);
  std::optional<bool> flag(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  std::optional<std::vector<Index>> counts(std::string_view key, Index least, Index most);
  // The same with null for 0, and without limits.
  std::optional<std::vector<Index>> widths(std::string_view key);
  std::optional<std::vector<std::string>> words(std::string_view key);
  std::optional<ConfigKeys> object(std::string_view key);

  // The number under the first of these names that the file has; it says the same under the others.
  struct Named {
    std::string key;
    Index value = 0;
  };
  std::optional<Named> whole_of(std::initializer_list<std::string_view> keys);
  std::optional<Named> count_of(std::initializer_list<std::string_view> keys, Index least,
                                Index most);

  // The value as it stands, and marked as read; nullptr where the key is missing.
  const nlohmann::json* value(std::string_view key);
  // Its entries, one for each layer: those past the last layer are left out, with a warning.
  template <class T>
  void one_each(std::string_view key, std::vector<T>& entries, Index layers) const {
    check_length(key, entries.size(), layers);
    entries.resize(static_cast<std::size_t>(layers));
  }
  // Refuses what is not a layer of the model. `first` is the number of the first one.
  void check_layers(std::string_view key, const std::vector<Index>& numbers, Index layers,
                    Index first = 0) const;

  const std::string& architecture() const { return architecture_; }
  // How the file calls a key, and what it says.
  std::string shown(std::string_view key) const;
  // Where a figure comes from: the key where it states one, or else the default of the class.
  std::string source_of(std::string_view key) const;
  std::string class_default() const { return "default of " + architecture_; }
  std::string shown_value(std::string_view key) const;
  // Throws UsageError "PATH: 'KEY' WHAT".
  [[noreturn]] void fail(std::string_view key, std::string_view what,
                         const std::string& remedy = {}) const;

  void origin(const std::string& quantity, const std::string& value, const std::string& from) const;
  void origin(const std::string& quantity, Index value, const std::string& from) const {
    origin(quantity, std::to_string(value), from);
  }
  // Notes a key that is there with a value as ignored; the first reason stays.
  void ignore(std::string_view key, std::string_view reason);
  void warn(const std::string& sentence) const { reading_.warnings.push_back(sentence); }
  // The keys that nobody has read.
  std::vector<std::string> unread() const;

 private:
  Index to_whole(std::string_view key, const nlohmann::json& value) const;
  Index in_range(std::string_view key, Index value, Index least, Index most) const;
  void check_length(std::string_view key, std::size_t entries, Index layers) const;
  const nlohmann::json& list(std::string_view key, const nlohmann::json& value) const;

  const nlohmann::json& object_;
  const std::string& path_;
  std::string prefix_, architecture_;
  ConfigReading& reading_;
  std::set<std::string, std::less<>> read_;
  std::set<std::string> noted_;  // names in reading_.ignored
};

}  // namespace swa
