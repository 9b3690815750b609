#pragma once

#include <span>

namespace CLI {
class App;
}

namespace swa::cli {

// Reads the words of a command (without its name) before CLI11 does, and complains in our own words
// about what CLI11 would take in silence (a value for a flag, an option as the value of another) or
// word differently from version to version. Throws UsageError.
void check_words(const CLI::App& command, std::span<char* const> words);

}  // namespace swa::cli
