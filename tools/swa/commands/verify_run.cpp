#include "commands/verify_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "cli/values.hpp"
#include "commands/case_groups.hpp"
#include "commands/case_memory.hpp"
#include "commands/choose.hpp"
#include "commands/verify_record.hpp"
#include "commands/verify_summary.hpp"
#include "kernels/forward.hpp"
#include "memory.hpp"
#include "reference/parallel.hpp"
#include "terminal/interrupt.hpp"
#include "terminal/progress.hpp"
#include "verify/spot_check.hpp"

namespace swa::commands {
namespace {

template <typename T>
void append_all(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::string repro_line(const VerifyRun& options, const Case& c, const std::string& kernel) {
  if (options.files.repro) return options.files.repro(c);
  std::string line = fmt::format("swa verify {}", swa::options(c.problem));
  const TileShape usual;
  if (options.tile.BM != usual.BM) line += fmt::format(" --BM {}", options.tile.BM);
  if (options.tile.BN != usual.BN) line += fmt::format(" --BN {}", options.tile.BN);
  line += options.check_words + " --kernel " + cli::shell_word(kernel);
  if (is_plugin(kernel) && options.timeout != kPluginTimeout) {
    line += fmt::format(" --timeout {}", options.timeout);
  }
  return line + options.files.input_words;
}

SumRuns sums_of(const VerifyRun& options) {
  return options.files.kernel ? SumRuns() : options.kernels.front().sums;
}

// Where the CPU's oracle would take many seconds, the GPU's is preferred.
constexpr double kOracleForGpu = 1e11;  // FLOP

bool wants_gpu_oracle(const Problem& p) {
  const auto dims = static_cast<double>(p.head_dim + p.value_dim());
  return gpu_absence().empty() && 4 * dims * visible_pairs_of(p) > kOracleForGpu;
}

// The oracle's answer; the GPU's only after some rows of it came out on the CPU too.
Oracle expected_of(const Problem& p, const Inputs& inputs) {
  if (wants_gpu_oracle(p)) {
    if (std::optional<Oracle> oracle = gpu_oracle(p, inputs)) {
      check_sampled_rows(p, inputs, *oracle);
      return std::move(*oracle);
    }
  }
  return oracle(p, inputs);
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

// What became of one case: a record for each kernel, and the lines that name failures.
struct CaseResult {
  std::vector<report::Record> records;
  std::vector<std::string> facts;  // of probe and poison
  std::string figure;
  std::vector<std::string> failures;
  std::vector<Failure> failed_kernels;
  std::vector<std::string> why_unsupported;
  Index passed = 0, failed = 0, unsupported = 0;
  Index incomplete = 0;  // a check was left out for its size
};

// With the checks that each can stand.
std::vector<FileKernel> kernels_of(const VerifyRun& options, const Case& c) {
  if (options.files.kernel) return {options.files.kernel(c)};
  std::vector<FileKernel> all;
  for (const Kernel& kernel : options.kernels) all.push_back({kernel, options.checks});
  return all;
}

CaseResult run_case(const VerifyRun& options, std::size_t index, const ProblemColumns& columns) {
  CaseResult result;
  const Case& c = options.cases[index];
  const Inputs inputs =
      options.files.inputs ? options.files.inputs(c.problem) : make_inputs(c.problem);
  const Oracle expected = expected_of(c.problem, inputs);
  for (const auto& [kernel, checks, left_out] : kernels_of(options, c)) {
    Attention got;
    Verdict verdict =
        judge(options.dump ? keep_first(kernel, got) : kernel, c.problem, inputs, expected, checks);
    verdict.left_out.insert(verdict.left_out.end(), left_out.begin(), left_out.end());
    const std::string repro = repro_line(options, c, kernel.name);
    result.records.push_back(record_of(c, verdict, columns, expected,
                                       Tolerance(c.problem, kernel.sums).formula(), repro));
    const std::vector<std::string> said = facts(c.problem, verdict);
    result.facts.insert(result.facts.end(), said.begin(), said.end());
    if (options.figure) result.figure = figure_of(c.problem, verdict);
    result.passed += verdict.status == Status::pass;
    result.unsupported += verdict.status == Status::unsupported;
    result.incomplete += !verdict.left_out.empty();
    if (verdict.status == Status::unsupported) result.why_unsupported.push_back(verdict.reason);
    if (!verdict.is_no()) continue;
    ++result.failed;
    result.failed_kernels.push_back({kernel.name, suspects_of(verdict)});
    result.failures.push_back("  " + repro);
    if (!verdict.reason.empty()) {
      result.failures.push_back(fmt::format("    {}: {}", name(verdict.status), verdict.reason));
    }
    for (const std::string& line : findings(c.problem, verdict)) {
      result.failures.push_back("    " + line);
    }
    if (options.dump) options.dump->add(c, index, inputs, expected, kernel.name, got);
  }
  return result;
}

struct Results {
  std::vector<CaseResult> cases;  // the first ones of those that were asked for, in their order
  bool failed_fast = false;       // the last one did not pass, and was to end the run
};

// Up to the first case that a signal left out or, where that is asked for, that did not pass.
Results run_cases(const VerifyRun& options) {
  std::vector<Problem> problems;
  for (const Case& c : options.cases) problems.push_back(c.problem);
  const ProblemColumns columns(problems);
  // Of other kernels nobody knows whether two may run at once.
  const bool only_cpu = !options.files.kernel &&
                        std::all_of(options.kernels.begin(), options.kernels.end(),
                                    [](const Kernel& k) { return k.name.starts_with("cpu-"); });
  const auto bytes = [&](const Problem& p) { return bytes_of(p, options.tile); };
  const std::vector<CaseGroup> groups = group_cases(
      options.cases, bytes, only_cpu && !options.dump ? spare_bytes() : 0, thread_count());

  std::vector<std::optional<CaseResult>> slots(options.cases.size());
  terminal::Progress progress("verify", options.cases.size());
  progress.update(0, swa::options(problems.front()));
  // Cases that run side by side may end in any order: those before a failed one still count.
  std::atomic<std::size_t> last = options.cases.size() - 1;
  run_groups(groups, [&](std::size_t i) {
    if (i > last) return;
    slots[i] = run_case(options, i, columns);
    progress.finish_one(swa::options(problems[i]));
    if (!options.fail_fast || slots[i]->failed == 0) return;
    std::size_t known = last;
    while (i < known && !last.compare_exchange_weak(known, i)) {
    }
  });
  Results results;
  for (std::size_t i = 0; i <= last && slots[i]; ++i) {
    results.cases.push_back(std::move(*slots[i]));
  }
  results.failed_fast =
      options.fail_fast && results.cases.size() == last + 1 && results.cases.back().failed > 0;
  return results;
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
