// swa trap-demo: what the classic mistakes look like, in numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/data.hpp"
#include "cli/suggest.hpp"
#include "cli/values.hpp"
#include "commands/case_memory.hpp"
#include "commands/commands.hpp"
#include "commands/fault_records.hpp"
#include "commands/trap_options.hpp"
#include "error.hpp"
#include "terminal/progress.hpp"

namespace swa::commands {
namespace {

const std::string kAll = "all", kAllFaults = "all-faults", kAllOf = "all-";

// What a name stands for.
struct Chosen {
  std::vector<const Trap*> traps;
  std::vector<const Fault*> faults;
  bool empty() const { return traps.empty() && faults.empty(); }
};

Chosen chosen_by(const std::string& word) {
  Chosen chosen;
  for (const Trap& trap : chapter_traps()) {
    if (word == trap.name || word == kAll) chosen.traps.push_back(&trap);
  }
  for (const Fault& f : faults()) {
    if (word == f.name || word == kAllFaults || word == kAllOf + class_of(f)) {
      chosen.faults.push_back(&f);
    }
  }
  return chosen;
}

std::vector<std::string> chapter_words() {
  std::vector<std::string> words;
  for (const Trap& trap : chapter_traps()) words.push_back(trap.name);
  words.push_back(kAll);
  return words;
}

[[noreturn]] void refuse(const cli::Option& name) {
  std::vector<std::string> words = chapter_words();
  const std::string few = fmt::format("choose from {}; swa trap-demo --list names {} more",
                                      fmt::join(words, ", "), faults().size());
  if (!name.given()) throw UsageError("no trap was named", few);
  if (name.text.empty()) throw UsageError("trap has no value", few);
  for (const Fault& f : faults()) words.emplace_back(f.name);
  const std::vector<std::string> classes = fault_classes();
  for (const std::string& of : classes) words.push_back(kAllOf + of);
  words.push_back(kAllFaults);
  // The name of a class alone.
  const bool is_class = std::find(classes.begin(), classes.end(), name.text) != classes.end();
  const auto near = is_class ? std::optional(kAllOf + name.text) : cli::nearest(name.text, words);
  throw UsageError(fmt::format("trap {} is not known", cli::quoted(name.text)),
                   near ? fmt::format("did you mean '{}'?", *near) : few);
}

// `none` where no name was given: all that there are.
cli::Outcome list(const Chosen& chosen) {
  report::Table table;
  const auto add = [&](std::string_view name, const std::string& of, std::string_view meaning) {
    report::Record record;
    record.add({"trap", "trap"}, std::string(name))
        .add({"class", "class"}, of)
        .add({"meaning", "what happens"}, std::string(meaning));
    append(table, record);
  };
  for (const Trap* trap : chosen.traps) add(trap->name, "chapter", trap->what);
  for (const Fault* f : chosen.faults) add(f->name, class_of(*f), f->meaning);
  cli::Outcome outcome;
  outcome.report.schema = "swa.trap-demo.list/1";
  outcome.report.summary = {{"traps", static_cast<Index>(table.rows.size())}};
  outcome.report.blocks = {
      table, report::Lines{{fmt::format("{}: those of the class chapter; {}CLASS: those of "
                                        "another class; {}: those of all other classes",
                                        kAll, kAllOf, kAllFaults)}}};
  return outcome;
}

// Each on the numbers of the chapter, or on what was asked.
bool show_traps(const std::vector<const Trap*>& traps, const TrapOptions& options,
                report::Report& report) {
  std::vector<Setting> settings;
  for (const Trap* trap : traps) settings.push_back(options.read(*trap));
  bool all = true;
  for (std::size_t i = 0; i < traps.size(); ++i) {
    const bool ok = traps[i]->show(settings[i], report);
    report.summary.emplace_back(traps[i]->name, std::string(ok ? kAsPredicted : kUnexpected));
    all = all && ok;
  }
  return all;
}

// Each on the cases of the suite `full` that tell it, and on the checklist of the suite `chapter`.
bool show_faults(const std::vector<const Fault*>& faults, report::Report& report) {
  const TileShape tile;
  const std::vector<Case> telling = read_cases(cli::data_path("cases/full.toml"));
  const std::vector<Case> usual = read_cases(cli::data_path("cases/chapter.toml"));
  for (const auto* cases : {&telling, &usual}) {
    for (const Case& c : *cases) require_memory_of(c.problem, tile);
  }
  FaultDemos demos(telling, usual, tile);
  terminal::Progress progress("trap-demo", faults.size());
  bool all = true;
  for (const Fault* f : faults) {
    const FaultDemo demo = demos.show(*f);
    append_demo(report, demo);
    const bool ok = demo.as_predicted();
    report.summary.emplace_back(std::string(f->name), std::string(ok ? kAsPredicted : kUnexpected));
    all = all && ok;
    progress.finish_one(std::string(f->name));
  }
  return all;
}

cli::Outcome run(const TrapOptions& options) {
  Chosen chosen = chosen_by(options.name().text);
  const bool of_kernels = options.kernel().given() && options.name().text == "nan";
  if (options.list()) {
    options.require_none("has no say: --list runs nothing");
    if (options.kernel().given()) {
      throw UsageError("--kernel has no say: --list runs nothing", "leave --kernel out");
    }
    if (!options.name().given()) {
      chosen = chosen_by(kAll);
      chosen.faults = chosen_by(kAllFaults).faults;
    }
  }
  if (chosen.empty()) refuse(options.name());
  if (options.list()) return list(chosen);
  cli::Outcome outcome;
  outcome.report.schema = "swa.trap-demo/1";
  bool ok = true;
  if (of_kernels) {
    options.require_none("has no say: --kernel runs the problems of the chapter's suite");
    ok = show_nan_of_kernels(options.kernel(), outcome.report);
    outcome.report.summary = {{"nan", std::string(ok ? kAsPredicted : kUnexpected)}};
  } else if (!chosen.traps.empty()) {
    ok = show_traps(chosen.traps, options, outcome.report);
  } else {
    options.require_none("means nothing to a fault of the catalogue: it has its own cases");
    if (options.kernel().given()) {
      throw UsageError("--kernel means nothing to a fault of the catalogue",
                       "swa verify --kernel runs kernels");
    }
    ok = show_faults(chosen.faults, outcome.report);
  }
  outcome.status = ok ? 0 : 1;
  return outcome;
}

}  // namespace

std::unique_ptr<cli::Command> trap_demo(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "trap-demo", "what the classic mistakes look like, in numbers", "swa trap-demo nan");
  command->judge({"verdict", {"role", "case", "repro"}, "", {kAsPredicted}});
  const auto options = std::make_shared<TrapOptions>(*command);
  command->on_run([options] { return run(*options); });
  return command;
}

}  // namespace swa::commands
