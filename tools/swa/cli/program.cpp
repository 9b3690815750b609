#include "cli/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ostream>

#include "cli/suggest.hpp"
#include "cli/word_check.hpp"
#include "commands/commands.hpp"
#include "error.hpp"

namespace swa::cli {

Program::Program()
    : app_(std::make_unique<CLI::App>(
          "swa: what a sliding window does to attention kernels and KV caches, in numbers",
          "swa")) {
  app_->set_help_flag("-h,--help", "print this help");
  app_->set_version_flag("--version", "swa " SWA_VERSION);
  app_->require_subcommand(0, 1);
  app_->footer(
      "Every command has its own --help with an example. Exit status: 0 yes, 1 no, 2 asked\n"
      "wrongly, 3 cannot run here, 4 a defect of swa, 130 interrupted.");
  for (const auto add :
       {commands::reproduce, commands::kv_budget, commands::tile_map, commands::verify,
        commands::trap_demo, commands::ring_sim, commands::bench}) {
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
  if (!out) throw CannotRun("the output could not be written");
  return status;
}

int Program::dispatch(std::span<char* const> words, std::ostream& out) {
  if (words.empty() || *words.front() == '\0')
    throw UsageError("no command was given", "swa --help lists them");
  const std::string first = words.front();
  if (first == "--version") {
    out << "swa " SWA_VERSION "\n";
    return 0;
  }
  if (first == "help" && words.size() > 1) {
    out << find(words[1]).app().help("swa");
    return 0;
  }
  if (first == "help" || first == "--help" || first == "-h") {
    out << app_->help();
    return 0;
  }
  if (first.starts_with('-')) {
    throw UsageError(fmt::format("'{}' stands before the command", first),
                     "the command comes first, such as swa verify --nq 100; swa --help lists them");
  }
  Command& command = find(first);
  name_ = fmt::format("swa {}", first);
  return run_command(command, words, out);
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
  try {
    write_exports(files, outcome.report, outcome.figure);
  } catch (const CannotRun&) {
    report::write(outcome.report, format, out);
    throw;
  }
  report::write(outcome.report, format, out);
  return outcome.status;
}

}  // namespace swa::cli
