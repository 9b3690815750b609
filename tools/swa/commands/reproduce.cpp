// swa reproduce: does every table of the chapter come out again?
#include <fmt/format.h>

#include <optional>

#include "chapter/compare.hpp"
#include "chapter/compile_check.hpp"
#include "cli/data.hpp"
#include "commands/commands.hpp"
#include "commands/reproduce_gpu.hpp"
#include "terminal/progress.hpp"

namespace swa::commands {
namespace {

using chapter::Class;

std::string word(Class kind) {
  switch (kind) {
    case Class::exact:
      return "exact";
    case Class::bounded:
      return "bounded";
    case Class::measured:
      return "measured";
    case Class::other_kernel:
      return "other kernel";
    case Class::waiting:
      return "waiting";
  }
  return {};
}

std::vector<chapter::Figure> figures_with_progress() {
  std::optional<terminal::Progress> progress;
  return chapter::all_figures(gpu_here(), [&](std::size_t done, std::size_t total) {
    if (!progress) progress.emplace("reproduce", total);
    progress->update(done, "");
  });
}

std::string ours(const chapter::Figure& figure) {
  if (figure.kind == Class::waiting) return "needs " + figure.ours;
  if (figure.kind == Class::measured) return fmt::format("{}: {}", figure.ours, figure.number);
  return figure.ours;
}

report::Record record_of(const chapter::Verdict& v) {
  const bool bounded = v.figure.bound > 0;
  const bool explained = !v.figure.note.empty();
  report::Record record;
  record.add({"verdict", "verdict"}, v.verdict)
      .add({"table", "table"}, v.figure.table)
      .add({"row", "row"}, v.figure.row)
      .add({"chapter", "chapter"}, v.chapter)
      .add({"ours", "ours"}, ours(v.figure))
      .add({"bound", "bound", ".1e"}, bounded ? report::Value(v.figure.bound) : report::Value())
      .add({"class", "class"}, word(v.figure.kind))
      .hide("note", explained ? report::Value(v.figure.note) : report::Value())
      .hide("repro", "swa reproduce");
  return record;
}

// For people; the records have it as their note.
report::Lines why_other_kernel() {
  report::Lines lines{
      {"other kernel: the chapter's figures are of its own Triton kernel, ours of "
       "the nearest tile of portable-prefill."}};
  for (const auto& part : {chapter::why_shared_memory_differs(), chapter::why_mma_differs()}) {
    lines.lines.insert(lines.lines.end(), part.begin(), part.end());
  }
  return lines;
}

cli::Outcome run(bool check) {
  const chapter::Printed printed = chapter::read_printed(cli::data_path("chapter/figures.tsv"));
  const std::vector<chapter::Verdict> verdicts = chapter::compare(figures_with_progress(), printed);
  cli::Outcome outcome;
  outcome.report.schema = "swa.reproduce/1";
  std::int64_t right = 0, other = 0, waiting = 0, wrong = 0;
  report::Table table;
  for (const chapter::Verdict& v : verdicts) {
    right += v.verdict == "ok";
    other += v.verdict == "other kernel";
    waiting += v.verdict == "waiting";
    wrong += v.wrong;
    append(table, record_of(v));
  }
  const auto total = static_cast<std::int64_t>(verdicts.size());
  outcome.report.blocks = {
      table, why_other_kernel(),
      report::Lines{
          {fmt::format("{} figures: {} come out again, {} are of another kernel, {} {}, "
                       "{} do not come out",
                       total, right, other, waiting,
                       waiting == 1 ? "waits for a GPU kernel" : "wait for a GPU kernel", wrong)}}};
  outcome.report.summary = {{"figures", total},
                            {"right", right},
                            {"other_kernel", other},
                            {"waiting", waiting},
                            {"wrong", wrong}};
  outcome.status = check && wrong > 0 ? 1 : 0;
  return outcome;
}

}  // namespace

std::unique_ptr<cli::Command> reproduce(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "reproduce", "every table of the chapter, beside what the chapter printed",
      "swa reproduce --check");
  command->judge({"verdict", {"table", "row"}, "ours", {"ok"}, {"other kernel", "waiting"}});
  const cli::Option& check =
      command->add_flag("--check", "exit with status 1 where a figure does not come out");
  command->on_run([&] { return run(check.given()); });
  return command;
}

}  // namespace swa::commands
