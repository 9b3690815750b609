// The whole command line: commands, help, version.
#pragma once

#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/option_table.hpp"

namespace swa::cli {

struct Question;

class Program {
 public:
  Program();
  ~Program();

  // Runs the command that argv names, writes its report to `out`, returns its exit status.
  // Throws UsageError for what cannot be understood, CannotRun for what cannot be done here.
  int run(int argc, char** argv, std::ostream& out);

  // For completion, the manual, and tests.
  OptionTable table() const { return option_table(*app_); }

  // "swa", or "swa verify" once the command is known: who complains.
  const std::string& name() const { return name_; }

 private:
  // `words` are those of the command line, without the program's own name.
  int dispatch(std::span<char* const> words, std::ostream& out);
  int help(std::span<char* const> words, std::ostream& out);
  int answer(const Question& question, std::span<char* const> words, std::ostream& out);
  int run_command(Command& command, std::span<char* const> words, std::ostream& out);
  Command& find(const std::string& name) const;

  std::unique_ptr<CLI::App> app_;
  std::vector<std::unique_ptr<Command>> commands_;
  std::string name_ = "swa";
};

}  // namespace swa::cli
