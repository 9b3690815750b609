#include "cli/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <ostream>

#include "cli/about.hpp"
#include "cli/choices.hpp"
#include "cli/completion.hpp"
#include "cli/manual.hpp"
#include "cli/option_table.hpp"
#include "cli/questions.hpp"
#include "cli/suggest.hpp"
#include "cli/values.hpp"
#include "cli/word_check.hpp"
#include "commands/commands.hpp"
#include "error.hpp"
#include "terminal/interrupt.hpp"

namespace swa::cli {

Program::Program()
    : app_(std::make_unique<CLI::App>(
          "swa: what a sliding window does to attention kernels and KV caches, in numbers",
          "swa")) {
  app_->set_help_flag("-h,--help", "print this help");
  // Read by cli/questions.cpp; they stand here for the help, completion and the manual.
  const auto add_flag = [&](const char* name, const std::string& meaning) {
    app_->add_flag(name, meaning);
  };
  const auto add_option = [&](const char* name, const std::string& meaning) {
    app_->add_option_function<std::string>(
            name, [](const std::string&) {}, meaning)
        ->type_name("");
  };
  add_flag("--version", "print the version, and what this binary was built from");
  add_flag("--devices", "list the GPUs that kernels could run on");
  add_option("--format", "of --version and --devices: " + report::format_names());
  add_option("--completion", "print a script that completes swa in a shell: bash or zsh");
  add_option("--manual", "print the manual page of swa, or of a command, for man");
  add_option("--words", fmt::format("list words, a line each: {}", fmt::join(word_kinds(), ", ")));
  app_->require_subcommand(0, 1);
  app_->footer(
      "Every command has its own --help with an example. Exit status: 0 yes, 1 no, 2 asked\n"
      "wrongly, 3 cannot run here, 4 a defect of swa, 130 interrupted.");
  for (const auto add :
       {commands::reproduce, commands::kv_budget, commands::tile_map, commands::verify,
        commands::trap_demo, commands::ring_sim, commands::bench, commands::kernels}) {
    commands_.push_back(add(*app_));
  }
}

Program::~Program() = default;

Command& Program::find(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& command : commands_) {
    if (command->app().get_name() == name) return *command;
    names.push_back(command->app().get_name());
  }
  throw UsageError(fmt::format("unknown command '{}'", name), did_you_mean(name, names));
}

int Program::run(int argc, char** argv, std::ostream& out) {
  const int status = dispatch({argv + 1, argv + argc}, out);
  out.flush();
  if (!out) throw CannotRun("the output could not be written", "make room, or send it elsewhere");
  return status;
}

int Program::dispatch(std::span<char* const> words, std::ostream& out) {
  if (words.empty() || *words.front() == '\0')
    throw UsageError("no command was given", "swa --help lists them");
  const std::string first = words.front();
  if (first == "help") return help(words.subspan(1), out);
  if (first.starts_with('-')) return answer(read_question(words), words, out);
  Command& command = find(first);
  name_ = fmt::format("swa {}", first);
  return run_command(command, words, out);
}

int Program::help(std::span<char* const> words, std::ostream& out) {
  if (words.size() > 1) {
    throw UsageError(fmt::format("unexpected word '{}'", words[1]),
                     "swa help takes the name of one command");
  }
  out << (words.empty() ? app_->help() : find(words[0]).app().help("swa"));
  return 0;
}

int Program::answer(const Question& question, std::span<char* const> words, std::ostream& out) {
  const auto print = [&](report::Report report) {
    report.version = SWA_VERSION;
    report.argv.assign(words.begin(), words.end());
    report::write(report, question.format, out);
  };
  const OptionTable table = this->table();
  if (question.option == "--version") {
    print(version_report());
  } else if (question.option == "--devices") {
    print(devices_report());
  } else if (question.option == "--completion") {
    const std::string shell = parse_choice("--completion", question.value, {"bash", "zsh"});
    out << (shell == "bash" ? bash_completion(table) : zsh_completion(table));
  } else if (question.option == "--manual") {
    out << manual_page(table, question.value, SWA_VERSION);
  } else if (question.option == "--words") {
    for (const std::string& word : words_of(question.value, table)) out << word << '\n';
  } else {
    out << app_->help();
  }
  return 0;
}

int Program::run_command(Command& command, std::span<char* const> words, std::ostream& out) {
  check_words(command.app(), words.subspan(1));
  try {
    // CLI11 takes the words as a stack: last first.
    std::vector<std::string> reversed(words.rbegin(), words.rend());
    app_->parse(reversed);
  } catch (const CLI::Success&) {
    out << command.app().help("swa");
    return 0;
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  const report::Format format = command.format();
  const std::vector<ExportFile> files = command.exports();
  require_writable("--export", files);
  Outcome outcome = command.run();
  outcome.report.version = SWA_VERSION;
  outcome.report.argv.assign(words.begin(), words.end());
  // A file that looks whole and is not would be taken for the answer.
  const bool interrupted = outcome.status == terminal::kInterrupted;
  if (interrupted && !files.empty()) terminal::say_interrupted("--export wrote no file");
  try {
    if (!interrupted) write_exports(files, outcome.report, outcome.figure);
  } catch (const CannotRun&) {
    report::write(outcome.report, format, out);
    throw;
  }
  report::write(outcome.report, format, out);
  return outcome.status;
}

}  // namespace swa::cli
