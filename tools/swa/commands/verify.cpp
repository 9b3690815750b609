// swa verify: is a kernel right?
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "cli/values.hpp"
#include "commands/case_groups.hpp"
#include "commands/case_memory.hpp"
#include "commands/choose.hpp"
#include "commands/commands.hpp"
#include "commands/verify_cases.hpp"
#include "commands/verify_checks.hpp"
#include "commands/verify_faults.hpp"
#include "commands/verify_record.hpp"
#include "error.hpp"
#include "kernels/forward.hpp"
#include "memory.hpp"
#include "reference/parallel.hpp"
#include "terminal/interrupt.hpp"
#include "terminal/progress.hpp"
#include "verify/judge.hpp"
#include "verify/kernel.hpp"
#include "verify/plugin.hpp"

namespace swa::commands {
namespace {

struct Options {
  std::vector<Case> cases;  // name empty where the problem came from the command line
  std::vector<Kernel> kernels;
  TileShape tile;
  bool fail_fast = false;
  Checks checks;
  bool figure = false;              // of the recovered mask; one case and one kernel then
  std::string check_words;          // that the repro line repeats
  double timeout = kPluginTimeout;  // seconds
};

std::string repro_line(const Options& options, const Problem& problem, const std::string& kernel) {
  std::string line = fmt::format("swa verify {}", swa::options(problem));
  const TileShape usual;
  if (options.tile.BM != usual.BM) line += fmt::format(" --BM {}", options.tile.BM);
  if (options.tile.BN != usual.BN) line += fmt::format(" --BN {}", options.tile.BN);
  line += options.check_words + " --kernel " + kernel_word(kernel);
  if (is_plugin(kernel) && options.timeout != kPluginTimeout) {
    line += fmt::format(" --timeout {}", options.timeout);
  }
  return line;
}

report::Lines preamble(const Options& options) {
  report::Lines lines;
  const std::string absence = gpu_absence();
  if (!absence.empty()) lines.lines.push_back("GPU kernels: not run, " + absence);
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
  lines.lines.push_back("bound: " + Tolerance(first, options.kernels.front().sums).formula() +
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
  Index passed = 0, failed = 0, unsupported = 0;
  Index incomplete = 0;  // a check was left out for its size
};

CaseResult run_case(const Options& options, const Case& c, const ProblemColumns& columns) {
  CaseResult result;
  const Inputs inputs = make_inputs(c.problem);
  const Oracle expected = oracle(c.problem, inputs);
  for (const Kernel& kernel : options.kernels) {
    const Verdict verdict = judge(kernel, c.problem, inputs, expected, options.checks);
    const std::string repro = repro_line(options, c.problem, kernel.name);
    result.records.push_back(record_of(c, verdict, columns, expected,
                                       Tolerance(c.problem, kernel.sums).formula(), repro));
    const std::vector<std::string> said = facts(c.problem, verdict);
    result.facts.insert(result.facts.end(), said.begin(), said.end());
    if (options.figure) result.figure = figure_of(c.problem, verdict);
    result.passed += verdict.status == Status::pass;
    result.unsupported += verdict.status == Status::unsupported;
    result.incomplete += !verdict.left_out.empty();
    if (!verdict.is_no()) continue;
    ++result.failed;
    result.failures.push_back("  " + repro);
    if (!verdict.reason.empty()) {
      result.failures.push_back(fmt::format("    {}: {}", name(verdict.status), verdict.reason));
    }
    for (const std::string& line : findings(c.problem, verdict)) {
      result.failures.push_back("    " + line);
    }
  }
  return result;
}

struct Results {
  std::vector<CaseResult> cases;  // the first ones of those that were asked for, in their order
  bool failed_fast = false;       // the last one did not pass, and was to end the run
};

// Up to the first case that a signal left out or, where that is asked for, that did not pass.
Results run_cases(const Options& options) {
  std::vector<Problem> problems;
  for (const Case& c : options.cases) problems.push_back(c.problem);
  const ProblemColumns columns(problems);
  // Of other kernels nobody knows whether two may run at once.
  const bool only_cpu = std::all_of(options.kernels.begin(), options.kernels.end(),
                                    [](const Kernel& k) { return k.name.starts_with("cpu-"); });
  const auto bytes = [&](const Problem& p) { return bytes_of(p, options.tile); };
  const std::vector<CaseGroup> groups =
      group_cases(options.cases, bytes, only_cpu ? spare_bytes() : 0, thread_count());

  std::vector<std::optional<CaseResult>> slots(options.cases.size());
  terminal::Progress progress("verify", options.cases.size());
  progress.update(0, swa::options(problems.front()));
  // Cases that run side by side may end in any order: those before a failed one still count.
  std::atomic<std::size_t> last = options.cases.size() - 1;
  run_groups(groups, [&](std::size_t i) {
    if (i > last) return;
    slots[i] = run_case(options, options.cases[i], columns);
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

cli::Outcome run(const Options& options) {
  const bool plugins = std::any_of(options.kernels.begin(), options.kernels.end(),
                                   [](const Kernel& k) { return is_plugin(k.name); });
  for (const Case& c : options.cases) {
    require_memory_of(c.problem, options.tile, plugins ? plugin_bytes(c.problem) : 0);
  }
  const terminal::StopOnInterrupt stop;
  const Results results = run_cases(options);
  const std::size_t left_out = options.cases.size() - results.cases.size();
  const bool interrupted = left_out > 0 && !results.failed_fast;
  Index passed = 0, failed = 0, unsupported = 0, incomplete = 0;
  report::Lines failures;
  report::Table table;
  for (const CaseResult& result : results.cases) {
    for (const report::Record& record : result.records) append(table, record);
    failures.lines.insert(failures.lines.end(), result.failures.begin(), result.failures.end());
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
  if (incomplete > 0 && table.rows.size() > 1) {
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
  outcome.report.blocks.push_back(failures);
  return outcome;
}

// Those of this build, and those that the option's items name.
std::vector<Kernel> all_kernels(const cli::Option& option, const Options& options) {
  std::vector<Kernel> all = cpu_kernels(options.tile);
  for (const std::vector<Kernel>& more : {gpu_kernels(), planted_kernels(option, options.tile),
                                          plugin_kernels(option, options.timeout)}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

double parse_timeout(const cli::Option& option) {
  const double seconds = cli::parse_real(option.name, option.text);
  if (seconds > 0) return seconds;
  throw UsageError(fmt::format("{} {} is not above 0", option.name, option.text),
                   "give the seconds that one call of a plug-in may take");
}

}  // namespace

std::unique_ptr<cli::Command> verify(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "verify", "compare kernels with the reference, element by element",
      "swa verify --W 100 --nq 96 --nk 600");
  command->judge({"status", {"case", "repro"}, "reason", {"pass"}, {"unsupported"}, {"error"}});
  const auto cases = std::make_shared<CaseOptions>(*command);
  const std::vector<const cli::Option*> say_which = command->options();
  const cli::Option& fail_fast =
      command->add_flag("--fail-fast", "stop at the first case that does not pass");
  const cli::Option& kernel = command->add("kernel", "*",
                                           "kernels by name, where * and ? are wildcards; "
                                           "plugin:PATH is one of yours, planted:FAULT one "
                                           "with a known fault");
  const auto checks = std::make_shared<CheckOptions>(*command);
  const cli::Option& BM = command->add("BM", "64", "query rows of a tile of cpu-tiled");
  const cli::Option& BN = command->add("BN", "64", "keys of a tile of cpu-tiled");
  const cli::Option& timeout = command->add_other("--timeout", fmt::format("{}", kPluginTimeout),
                                                  "seconds that one call of a plug-in may take");
  const cli::Option& matrix =
      command->add_flag("--kill-matrix", "plant every known fault: which case sees which one?");
  const cli::Option& catalogue = command->add_flag("--list-faults", "print the known faults");
  command->add_figure("the recovered mask against the one that was asked for");
  command->on_run(
      [=, self = command.get(), &fail_fast, &kernel, &BM, &BN, &timeout, &matrix, &catalogue] {
        if (catalogue.given()) {
          self->refuse_beside(catalogue, "runs nothing", {});
          return list_faults();
        }
        if (cases->list().given()) {
          self->refuse_beside(cases->list(), "runs nothing", say_which);
          return list_cases(cases->read());
        }
        if (matrix.given()) {
          std::vector<const cli::Option*> allowed = say_which;
          allowed.insert(allowed.end(), {&BM, &BN});
          self->refuse_beside(matrix, "runs planted kernels only", allowed);
          const TileShape usual{32, 32};  // small cases have several of them
          return run_kill_matrix(cases->read(),
                                 {BM.given() ? cli::parse_count(BM.name, BM.text) : usual.BM,
                                  BN.given() ? cli::parse_count(BN.name, BN.text) : usual.BN});
        }
        Options options;
        options.fail_fast = fail_fast.given();
        options.tile = {cli::parse_count(BM.name, BM.text), cli::parse_count(BN.name, BN.text)};
        options.timeout = parse_timeout(timeout);
        options.checks = checks->read();
        options.check_words = checks->repeated();
        options.kernels = choose(kernel, all_kernels(kernel, options), gpu_absence(),
                                 "the CPU check still runs: --kernel cpu-tiled");
        options.cases = cases->read();
        options.figure = self->wants_figure();
        if (options.figure && options.cases.size() * options.kernels.size() != 1) {
          throw UsageError("--export .svg draws one kernel on one problem",
                           "name one with --kernel, and give one problem");
        }
        if (options.figure) options.checks.probe = Checks::When::always;
        return run(options);
      });
  return command;
}

}  // namespace swa::commands
