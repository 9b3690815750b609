#include "commands/verify_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "commands/case_memory.hpp"
#include "commands/choose.hpp"
#include "commands/run_cases.hpp"
#include "commands/verify_random.hpp"
#include "commands/verify_record.hpp"
#include "commands/verify_summary.hpp"
#include "kernels/forward.hpp"
#include "terminal/interrupt.hpp"

namespace swa::commands {
namespace {

SumRuns sums_of(const VerifyRun& options) {
  return options.files.kernel ? SumRuns() : options.kernels.front().sums;
}

report::Lines preamble(const VerifyRun& options) {
  report::Lines lines;
  const std::string absence = gpu_absence();
  if (!absence.empty() && !options.files.kernel) {
    lines.lines.push_back("GPU kernels: not run, " + absence);
  }
  const Problem& first = options.cases.front().problem;
  if (options.cases.size() == 1) {
    const report::Lines said = describe_problem(first, 1);
    lines.lines.insert(lines.lines.end(), said.lines.begin(), said.lines.end());
    if (const Count rows = blind_rows(first); rows > 0) {
      Count all = 0;
      for (const SharedMask& s : shared_masks(first)) all += Count{s.mask.n_q} * s.sequences;
      lines.lines.push_back(fmt::format("rows:  {} of {} see no key: output 0, lse {}", rows, all,
                                        first.sink_logits ? "the sink logit" : "-inf"));
    }
  }
  const auto by_gpu = std::count_if(options.cases.begin(), options.cases.end(),
                                    [](const Case& c) { return wants_gpu_oracle(c.problem); });
  if (by_gpu > 0 && !options.files.kernel) {
    lines.lines.push_back(
        fmt::format("oracle: of {} of {} cases computed on the GPU in fp64, every element, by the "
                    "kernel naive; "
                    "sampled rows of it were computed on the CPU too",
                    by_gpu, options.cases.size()));
  }
  lines.lines.push_back("bound: " + Tolerance(first, sums_of(options)).formula() +
                        (options.cases.size() == 1 ? "" : " (first case)"));
  lines.lines.push_back(
      "       n keys of the row, M its largest |score|, A sum of weight |v|, o output"
      " (docs/numerics.md)");
  return lines;
}

}  // namespace

cli::Outcome run(const VerifyRun& options) {
  const bool plugins = std::any_of(options.kernels.begin(), options.kernels.end(),
                                   [](const Kernel& k) { return is_plugin(k.name); });
  const bool files = options.files.kernel || options.files.inputs || options.dump;
  for (const Case& c : options.cases) {
    require_memory_of(
        c.problem, options.tile,
        (plugins ? plugin_bytes(c.problem) : 0) + (files ? file_memory(c.problem) : 0));
  }
  const terminal::StopOnInterrupt stop;
  const Results results = run_cases(options);
  if (options.seed) return outcome_of_random(options, results);
  const std::size_t left_out = options.cases.size() - results.cases.size();
  const bool interrupted = left_out > 0 && !results.failed_fast;
  Index passed = 0, failed = 0, unsupported = 0, incomplete = 0;
  report::Lines failures;
  std::vector<Failure> failed_kernels;
  std::vector<std::string> why_unsupported;
  report::Table table;
  for (const CaseResult& result : results.cases) {
    for (const report::Record& record : result.records) append(table, record);
    append_all(failures.lines, result.failures);
    append_all(failed_kernels, result.failed_kernels);
    append_all(why_unsupported, result.why_unsupported);
    passed += result.passed;
    failed += result.failed;
    unsupported += result.unsupported;
    incomplete += result.incomplete;
  }
  cli::Outcome outcome;
  outcome.report.schema = "swa.verify/1";
  outcome.report.summary = {
      {"pass", passed},
      {"fail", failed},
      {"unsupported", unsupported},
      {"incomplete", incomplete},
      {"interrupted", interrupted},
      {"left_out", static_cast<Index>(left_out)},
      {"gpu", gpu_absence().empty() ? report::Value("run") : report::Value(gpu_absence())}};
  outcome.report.blocks = {preamble(options)};
  if (!table.rows.empty()) outcome.report.blocks.push_back(table);
  if (options.cases.size() * options.kernels.size() == 1 && !results.cases.empty()) {
    outcome.report.blocks.push_back(report::Lines{results.cases.front().facts});
    outcome.figure = results.cases.front().figure;
  }
  failures.lines.insert(
      failures.lines.begin(),
      failed == 0 ? fmt::format("{} of {} passed", passed, table.rows.size())
                  : fmt::format("{} of {} did not pass; to run one of them again:", failed,
                                table.rows.size()));
  append_all(failures.lines, reasons_of_unsupported(why_unsupported));
  const std::vector<std::string> common = common_faults(failed_kernels);
  failures.lines.insert(failures.lines.begin(), common.begin(), common.end());
  // Of files nothing more can be asked.
  if (incomplete > 0 && table.rows.size() > 1 && !options.files.kernel) {
    failures.lines.push_back(fmt::format(
        "checks were left out of {} of {} for their size: --probe and --poison run them",
        incomplete, table.rows.size()));
  }
  outcome.status = failed == 0 ? 0 : 1;
  const std::string part =
      fmt::format("{} of {} cases were run", results.cases.size(), options.cases.size());
  if (results.failed_fast && left_out > 0) {
    failures.lines.insert(failures.lines.begin(),
                          fmt::format("--fail-fast: {}, {} were left out", part, left_out));
  }
  if (interrupted) {
    failures.lines.insert(failures.lines.begin(), "interrupted: " + part);
    terminal::say_interrupted(part);
    outcome.report.interrupted = part;
    outcome.status = terminal::kInterrupted;
  }
  if (options.dump) {
    failures.lines.push_back(options.dump->finish());
    outcome.report.summary.emplace_back("dumped", static_cast<Index>(options.dump->cases()));
  }
  outcome.report.blocks.push_back(failures);
  return outcome;
}

}  // namespace swa::commands
