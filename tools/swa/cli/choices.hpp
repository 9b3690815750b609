// The words that options take, for completion.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/option_table.hpp"

namespace swa::cli {

struct Choices {
  std::vector<std::string> words;
  // Where the words may change after the program was built, the KIND of `swa --words KIND` that a
  // shell asks for them.
  std::string kind = {};
  bool files = false;  // any file
};

// What an option of a command takes, as far as it can be listed; nothing of a number. Each list
// stands where the option is read, too, and a test holds the two together.
Choices choices(std::string_view command, std::string_view option);

const std::vector<std::string>& word_kinds();
// The commands, the models and suites of the data folder, or the kernels of this build. Throws
// UsageError for a kind that is not known.
std::vector<std::string> words_of(std::string_view kind, const OptionTable& table);

}  // namespace swa::cli
