#include "commands/verify_faults.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "commands/case_memory.hpp"
#include "commands/gpu_kill_rows.hpp"
#include "kernels/forward.hpp"
#include "memory.hpp"
#include "terminal/progress.hpp"
#include "verify/kill_matrix.hpp"

namespace swa::commands {
namespace {

using report::Show;
using report::Value;

std::string name_of(const Case& c, std::size_t index) {
  return c.name.empty() ? fmt::format("case {}", index + 1) : c.name;
}

report::Words names_of(const std::vector<std::size_t>& indices, const std::vector<Case>& cases) {
  report::Words names;
  for (const std::size_t i : indices) names.push_back(name_of(cases[i], i));
  return names;
}

// A sign for each case: x where it kills the fault.
std::string signs(const KillRow& row, std::size_t cases) {
  std::string text(cases, '.');
  for (const std::size_t i : row.killed_by) text[i] = 'x';
  return text;
}

report::Lines legend(const std::vector<Case>& cases, TileShape tile) {
  report::Lines lines{
      {fmt::format("faults: planted in the tiled forward, BM {}, BN {}; each column is a case, x: "
                   "its check fails",
                   tile.BM, tile.BN)}};
  std::string line = "cases: ";
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string entry = fmt::format(" {} {}", i + 1, name_of(cases[i], i));
    constexpr std::size_t kWidth = 100;
    if (line.size() + entry.size() > kWidth) {
      lines.lines.push_back(line);
      line = "       ";
    }
    line += entry;
    if (i + 1 < cases.size()) line += ",";
  }
  lines.lines.push_back(line);
  return lines;
}

report::Table table_of(const KillMatrix& matrix, const std::vector<KillRow>& of_gpu,
                       const std::vector<Case>& cases) {
  report::Table table;
  for (const KillRow& row : matrix.faults) {
    const report::Words killed_by = names_of(row.killed_by, cases);
    report::Record record;
    record.add({"fault", "fault"}, std::string(row.planted->name))
        .add({"kind", "class", "", Show::machine}, std::string(row.planted->kind))
        .hide("killed_by", killed_by)
        .add({"kills", "kills"}, static_cast<Index>(killed_by.size()))
        .add({"cases", "cases"}, signs(row, cases.size()))
        .hide("survives", row.survives())
        .add({"diagnosed_as", "diagnosed as"},
             row.diagnosed_as.empty() ? Value() : Value(row.diagnosed_as))
        .add({"equivalent_to", "the same here"}, row.equivalent_to);
    if (!of_gpu.empty()) add_gpu_cells(record, *row.planted, of_gpu, cases);
    append(table, record);
  }
  return table;
}

// The matrix holds all cases at once, and what each fault and the right kernel predict for them:
// out, lse and the sums of weight |v|, in double.
void require_memory_of_matrix(const std::vector<Case>& cases, TileShape tile) {
  double bytes = 0;
  for (const Case& c : cases) {
    const Shape rows = c.problem.query_shape(1);
    const double elements = static_cast<double>(rows.batch) * static_cast<double>(rows.heads) *
                            static_cast<double>(rows.tokens) *
                            static_cast<double>(2 * c.problem.value_dim() + 1);
    bytes += bytes_of(c.problem, tile) +
             sizeof(double) * elements * static_cast<double>(faults().size() + 1);
  }
  require_memory(bytes, fmt::format("the kill matrix of {} cases", cases.size()));
}

}  // namespace

cli::Outcome list_faults() {
  report::Table table;
  for (const Fault& f : faults()) {
    report::Record record;
    record.add({"fault", "fault"}, std::string(f.name))
        .add({"class", "class"}, std::string(f.kind))
        .add({"meaning", "what the kernel does"}, std::string(f.meaning))
        .hide("cause", std::string(f.cause))
        .hide("remedy", std::string(f.remedy));
    append(table, record);
  }
  cli::Outcome outcome;
  outcome.report.schema = "swa.verify-faults/1";
  outcome.report.summary = {{"faults", static_cast<Index>(faults().size())}};
  outcome.report.blocks = {
      table, report::Lines{{fmt::format("{} faults; swa trap-demo FAULT shows one in numbers",
                                        faults().size())}}};
  return outcome;
}

cli::Outcome run_kill_matrix(const std::vector<Case>& cases, TileShape tile) {
  const std::vector<Kernel> gpu = planted_gpu_kernels();
  require_memory_of_matrix(cases, tile);
  if (!gpu.empty()) require_memory_of_matrix(cases_for_gpu(cases), tile);
  terminal::Progress progress("kill matrix", faults().size());
  const KillMatrix matrix =
      kill_matrix(cases, tile, [&](const Fault& f) { progress.finish_one(std::string(f.name)); });
  const std::vector<KillRow> of_gpu = gpu_kill_rows(gpu, cases);
  const auto count = [&](auto holds) {
    return static_cast<Index>(std::count_if(matrix.faults.begin(), matrix.faults.end(), holds));
  };
  const auto total = static_cast<Index>(matrix.faults.size());
  const Index survive = count([](const KillRow& row) { return row.survives(); });
  const Index named = count([](const KillRow& row) { return row.named(); });
  const report::Words accused = names_of(matrix.false_accusations, cases);

  report::Lines end;
  end.lines.push_back(fmt::format("{} of {} faults are killed, {} of these are named",
                                  total - survive, total, named));
  for (const KillRow& row : matrix.faults) {
    if (row.survives()) {
      end.lines.push_back(
          fmt::format("  survives: {}: {}", row.planted->name, row.planted->meaning));
    } else if (!row.named()) {
      end.lines.push_back(
          fmt::format("  misnamed: {} as {}", row.planted->name,
                      row.diagnosed_as.empty() ? "none of the catalogue" : row.diagnosed_as));
    }
  }
  end.lines.push_back(accused.empty()
                          ? "the right kernel passes every case"
                          : fmt::format("the right kernel fails {}", fmt::join(accused, ", ")));
  if (of_gpu.empty()) {
    end.lines.push_back("GPU kernels: no fault was planted in them, " + gpu_absence());
  } else {
    const std::vector<std::string> lines = gpu_lines(of_gpu);
    end.lines.insert(end.lines.end(), lines.begin(), lines.end());
  }
  cli::Outcome outcome;
  outcome.report.schema = "swa.verify-kill-matrix/1";
  outcome.report.summary = {{"faults", total},
                            {"killed", total - survive},
                            {"survive", survive},
                            {"named", named},
                            {"cases", static_cast<Index>(cases.size())},
                            {"falsely_accused", accused}};
  outcome.report.blocks = {legend(cases, tile), table_of(matrix, of_gpu, cases), end};
  const bool gpu_ok = std::all_of(of_gpu.begin(), of_gpu.end(), is_explained);
  outcome.report.summary.emplace_back("gpu_planted", static_cast<Index>(of_gpu.size()));
  outcome.report.summary.emplace_back(
      "gpu_named", static_cast<Index>(std::count_if(of_gpu.begin(), of_gpu.end(), is_explained)));
  outcome.status = survive == 0 && named == total && accused.empty() && gpu_ok ? 0 : 1;
  return outcome;
}

}  // namespace swa::commands
