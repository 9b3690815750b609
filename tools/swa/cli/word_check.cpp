#include "cli/word_check.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/suggest.hpp"
#include "error.hpp"

namespace swa::cli {
namespace {

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

class WordCheck {
 public:
  explicit WordCheck(const CLI::App& command) : command_(command) {
    for (const CLI::Option* option : command.get_options())
      positionals_ += option->get_positional();
  }

  void check(std::span<char* const> words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string word = words[i];
      if (word == "--") {
        for (++i; i < words.size(); ++i) stray_or_positional(words[i]);
        return;
      }
      if (word.size() < 2 || word.front() != '-') {
        stray_or_positional(word);
      } else if (takes_next_word(word)) {
        if (++i == words.size() || option_of(words[i]) != nullptr) {
          throw UsageError(fmt::format("{} has no value", word), "write its value after it");
        }
      }
    }
  }

 private:
  // The option that a word names, "--nq", "--nq=5" or "-W5"; none where it names no option.
  const CLI::Option* option_of(const std::string& word) const {
    const bool is_long = word.starts_with("--");
    const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
    for (const CLI::Option* option : command_.get_options()) {
      if (name.size() > 1 && name.front() == '-' && option->check_name(name)) return option;
    }
    return nullptr;
  }

  bool takes_next_word(const std::string& word) {
    const CLI::Option* option = option_of(word);
    const std::string name = word.substr(0, word.find('='));
    if (option == nullptr) {
      throw UsageError(
          fmt::format("unknown option '{}'", name),
          did_you_mean(name, option_names(command_),
                       fmt::format("swa {} --help lists the options", command_.get_name())));
    }
    if (!seen_.insert(option).second) {
      throw UsageError(fmt::format("{} was given more than once", option->get_name()),
                       "give each option once; several values are a list, such as 128,512");
    }
    const bool is_flag = option->get_expected_max() == 0;
    const bool has_value = word.find('=') != std::string::npos;
    if (is_flag && has_value) {
      throw UsageError(fmt::format("{} takes no value", name), fmt::format("write {} alone", name));
    }
    if (!word.starts_with("--") && word.size() > 2 && word[2] == '=') {
      throw UsageError(fmt::format("{} takes its value without a =", name),
                       fmt::format("write {} {}, or {}={}", name, word.substr(3),
                                   option->get_name(), word.substr(3)));
    }
    if (has_value && word.back() == '=') {
      throw UsageError(fmt::format("{} has no value", name), "write its value after it");
    }
    const bool attached = !word.starts_with("--") && word.size() > 2;  // -W5
    return !is_flag && !has_value && !attached;
  }

  void stray_or_positional(const std::string& word) {
    if (positionals_-- > 0) return;
    throw UsageError(fmt::format("unexpected word '{}'", word),
                     fmt::format("values follow their option; swa {} --help lists the options",
                                 command_.get_name()));
  }

  const CLI::App& command_;
  int positionals_ = 0;
  std::set<const CLI::Option*> seen_;
};

}  // namespace

void check_words(const CLI::App& command, std::span<char* const> words) {
  WordCheck(command).check(words);
}

}  // namespace swa::cli
