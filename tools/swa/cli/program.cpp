#include "cli/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <optional>
#include <ostream>
#include <set>

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

// Reads the words of a command before CLI11 does, and complains in our own words about what CLI11
// would take in silence (a value for a flag, an option as the value of another) or word differently
// from version to version.
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
      const std::optional<std::string> near = nearest(name, option_names(command_));
      throw UsageError(fmt::format("unknown option '{}'", name),
                       near ? fmt::format("did you mean '{}'?", *near)
                            : fmt::format("swa {} --help lists the options", command_.get_name()));
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
  if (first == "--help" || first == "-h") {
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
  WordCheck(command.app()).check(words.subspan(1));
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
  Outcome outcome = command.run();
  outcome.report.version = SWA_VERSION;
  outcome.report.argv.assign(words.begin(), words.end());
  report::write(outcome.report, format, out);
  return outcome.status;
}

}  // namespace swa::cli
