// What is asked of the program itself: options in the place of a command.
#pragma once

#include <span>
#include <string>

#include "report/report.hpp"

namespace swa::cli {

struct Question {
  std::string option;  // "--version", "--completion" ...
  std::string value;   // the word that it takes; empty where none was typed
  report::Format format = report::Format::text;
};

// Reads a command line that begins with a dash. Throws UsageError where it is not one question.
Question read_question(std::span<char* const> words);

}  // namespace swa::cli
