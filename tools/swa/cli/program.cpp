#include "cli/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <ostream>
#include <string_view>

#include "cli/suggest.hpp"
#include "commands/commands.hpp"
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

// What CLI11 did not know: an option, or a stray word.
UsageError unknown_argument(const CLI::App& command) {
  // CLI11 returns what remains in reversed order in some versions, so look for the option first.
  const std::vector<std::string> rest = command.remaining();
  const auto option = std::find_if(rest.begin(), rest.end(),
                                   [](const std::string& word) { return word.starts_with('-'); });
  if (option == rest.end()) {
    return UsageError(fmt::format("unexpected argument '{}'", rest.empty() ? "" : rest.front()),
                      "values follow their option, such as --W 128");
  }
  const std::string typed = option->substr(0, option->find('='));
  const std::optional<std::string> near = nearest(typed, option_names(command));
  return UsageError(fmt::format("unknown option '{}'", typed),
                    near ? fmt::format("did you mean '{}'?", *near)
                         : fmt::format("swa {} --help lists the options", command.get_name()));
}

}  // namespace

Program::Program()
    : app_(std::make_unique<CLI::App>(
          "swa: what a sliding window does to attention kernels and KV caches, in numbers",
          "swa")) {
  app_->set_help_flag("-h,--help", "print this help");
  app_->set_version_flag("--version", "swa " SWA_VERSION);
  app_->require_subcommand(0, 1);
  app_->footer(
      "Every command has its own --help with an example. Exit status: 0 yes, 1 no, 2 asked\n"
      "wrongly, 3 cannot run here, 4 a defect of swa.");
  for (const auto add : {commands::reproduce, commands::kv_budget, commands::tile_map,
                         commands::verify, commands::trap_demo, commands::ring_sim}) {
    commands_.push_back(add(*app_));
  }
}

Program::~Program() = default;

Command* Program::chosen() const {
  const auto found =
      std::find_if(commands_.begin(), commands_.end(), [](const auto& c) { return c->chosen(); });
  return found == commands_.end() ? nullptr : found->get();
}

void Program::parse(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (!first.empty() && first.front() != '-') {
    std::vector<std::string> names;
    for (const auto& command : commands_) names.push_back(command->app().get_name());
    if (std::find(names.begin(), names.end(), first) == names.end()) {
      throw UsageError(fmt::format("unknown command '{}'", first), did_you_mean(first, names));
    }
    name_ = fmt::format("swa {}", first);
  }
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success&) {
    throw;  // --help or --version
  } catch (const CLI::ExtrasError&) {
    const Command* command = chosen();
    throw unknown_argument(command == nullptr ? *app_ : command->app());
  } catch (const CLI::ArgumentMismatch& error) {
    throw UsageError(error.what(), "each option is given once, with one value");
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
}

int Program::run(int argc, char** argv, std::ostream& out) {
  try {
    parse(argc, argv);
  } catch (const CLI::CallForVersion&) {
    out << "swa " SWA_VERSION "\n";
    return 0;
  } catch (const CLI::Success&) {
    const Command* command = chosen();
    out << (command == nullptr ? app_->help() : command->app().help());
    return 0;
  }
  Command* command = chosen();
  if (command == nullptr) throw UsageError("no command was given", "swa --help lists them");
  const report::Format format = command->format();
  Outcome outcome = command->run();
  outcome.report.version = SWA_VERSION;
  outcome.report.argv.assign(argv + 1, argv + argc);
  report::write(outcome.report, format, out);
  out.flush();
  if (!out) throw CannotRun("the output could not be written");
  return outcome.status;
}

}  // namespace swa::cli
