// swa reproduce: does every table of the chapter come out again?
#include <fmt/format.h>

#include <optional>

#include "chapter/compare.hpp"
#include "cli/data.hpp"
#include "commands/commands.hpp"
#include "terminal/progress.hpp"

namespace swa::commands {
namespace {

std::string word(chapter::Class kind) {
  switch (kind) {
    case chapter::Class::exact:
      return "exact";
    case chapter::Class::bounded:
      return "bounded";
    case chapter::Class::waiting:
      return "waiting";
  }
  return {};
}

std::vector<chapter::Figure> figures_with_progress() {
  std::optional<terminal::Progress> progress;
  return chapter::all_figures([&](std::size_t done, std::size_t total) {
    if (!progress) progress.emplace("reproduce", total);
    progress->update(done, "");
  });
}

cli::Outcome run(bool check) {
  const chapter::Printed printed = chapter::read_printed(cli::data_path("chapter/figures.tsv"));
  const std::vector<chapter::Verdict> verdicts = chapter::compare(figures_with_progress(), printed);
  cli::Outcome outcome;
  outcome.report.schema = "swa.reproduce/1";
  std::int64_t right = 0, waiting = 0;
  report::Table table;
  for (const chapter::Verdict& v : verdicts) {
    const bool waits = v.figure.kind == chapter::Class::waiting;
    const bool bounded = v.figure.kind == chapter::Class::bounded;
    waiting += waits;
    right += v.right && !waits;
    report::Record record;
    record.add({"verdict", "verdict"}, v.verdict)
        .add({"table", "table"}, v.figure.table)
        .add({"row", "row"}, v.figure.row)
        .add({"chapter", "chapter"}, v.chapter)
        .add({"ours", "ours"}, waits ? "needs " + v.figure.ours : v.figure.ours)
        .add({"bound", "bound", ".1e"}, bounded ? report::Value(v.figure.bound) : report::Value())
        .add({"class", "class"}, word(v.figure.kind))
        .hide("repro", "swa reproduce");
    append(table, record);
  }
  const auto total = static_cast<std::int64_t>(verdicts.size());
  const std::int64_t wrong = total - right - waiting;
  outcome.report.blocks = {
      table,
      report::Lines{{fmt::format("{} figures: {} come out again, {} wait for a GPU kernel, {} "
                                 "do not come out",
                                 total, right, waiting, wrong)}}};
  outcome.report.summary = {
      {"figures", total}, {"right", right}, {"waiting", waiting}, {"wrong", wrong}};
  outcome.status = check && wrong > 0 ? 1 : 0;
  return outcome;
}

}  // namespace

std::unique_ptr<cli::Command> reproduce(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "reproduce", "every table of the chapter, beside what the chapter printed",
      "swa reproduce --check");
  command->judge({"verdict", {"table", "row"}, "ours", {"ok"}, {"waiting"}});
  const cli::Option& check =
      command->add_flag("--check", "exit with status 1 where a figure does not come out");
  command->on_run([&] { return run(check.given()); });
  return command;
}

}  // namespace swa::commands
