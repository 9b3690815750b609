#include "commands/verify_random.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "commands/verify_record.hpp"
#include "kernels/forward.hpp"
#include "terminal/interrupt.hpp"

namespace swa::commands {
namespace {

std::string draw_again(const VerifyRun& options) {
  return fmt::format("swa verify --random {} --seed {}", options.cases.size(), *options.seed);
}

// "152 without a window, 480 causal, ...".
std::string features_of(const std::vector<Case>& cases) {
  using Kind = Window::Kind;
  std::vector<std::string> parts;
  const auto add = [&](const char* what, auto holds) {
    const auto count =
        std::count_if(cases.begin(), cases.end(), [&](const Case& c) { return holds(c.problem); });
    parts.push_back(fmt::format("{} {}", count, what));
  };
  add("without a window", [](const Problem& p) { return p.window.kind == Kind::global; });
  add("causal", [](const Problem& p) { return p.window.kind == Kind::causal; });
  add("two-sided", [](const Problem& p) { return p.window.kind == Kind::band; });
  add("chunked", [](const Problem& p) { return p.window.kind == Kind::chunked; });
  add("with sink tokens", [](const Problem& p) { return p.sinks > 0; });
  add("padded", [](const Problem& p) { return p.has_lengths() && p.layout == Layout::padded; });
  add("packed", [](const Problem& p) { return p.layout == Layout::packed; });
  add("with groups of heads", [](const Problem& p) { return p.group() > 1; });
  return fmt::format("{}", fmt::join(parts, ", "));
}

report::Lines preamble(const VerifyRun& options) {
  report::Lines lines;
  const std::string absence = gpu_absence();
  if (!absence.empty()) lines.lines.push_back("GPU kernels: not run, " + absence);
  lines.lines.push_back(fmt::format("random: {} problems of seed {} ({} draws them again)",
                                    options.cases.size(), *options.seed, draw_again(options)));
  lines.lines.push_back("        " + features_of(options.cases));
  return lines;
}

// A record for each kernel.
report::Table tally(const VerifyRun& options, const Results& results) {
  report::Table table;
  table.name = "kernel";
  for (std::size_t k = 0; k < options.kernels.size(); ++k) {
    const std::string& kernel = options.kernels[k].name;
    const auto count = [&](auto holds) {
      return static_cast<Index>(
          std::count_if(results.cases.begin(), results.cases.end(),
                        [&](const CaseResult& result) { return holds(result.statuses[k]); }));
    };
    const Index passed = count([](Status s) { return s == Status::pass; });
    const Index unsupported = count([](Status s) { return s == Status::unsupported; });
    const Index failed = static_cast<Index>(results.cases.size()) - passed - unsupported;
    report::Record record;
    record.add({"kernel", "kernel"}, kernel)
        .add({"passed", "passed"}, passed)
        .add({"failed", "failed"}, failed)
        .add({"unsupported", "unsupported"}, unsupported)
        .add({"status", "status"}, std::string(name(failed > 0   ? Status::fail
                                                    : passed > 0 ? Status::pass
                                                                 : Status::unsupported)))
        .hide("repro", draw_again(options) + kernel_words(options, kernel));
    append(table, record);
  }
  return table;
}

// Of the failures of one kernel, the cases with the fewest pairs, smallest first.
std::vector<std::size_t> smallest_failures(const VerifyRun& options, const Results& results,
                                           std::size_t kernel) {
  constexpr std::size_t kMost = 8;
  std::vector<std::size_t> failed;
  for (std::size_t i = 0; i < results.cases.size(); ++i) {
    if (results.cases[i].statuses[kernel] == Status::fail) failed.push_back(i);
  }
  std::stable_sort(failed.begin(), failed.end(), [&](std::size_t a, std::size_t b) {
    return visible_pairs_of(options.cases[a].problem) < visible_pairs_of(options.cases[b].problem);
  });
  failed.resize(std::min(failed.size(), kMost));
  return failed;
}

// The smallest failure of each kernel with its diagnosis, and what explains the most of a few.
std::vector<std::string> diagnose_smallest(const VerifyRun& options, const Results& results) {
  std::vector<std::string> lines;
  for (std::size_t k = 0; k < options.kernels.size(); ++k) {
    const Kernel& kernel = options.kernels[k];
    std::vector<Failure> failures;
    for (const std::size_t i : smallest_failures(options, results, k)) {
      const Problem& p = options.cases[i].problem;
      Checks checks = options.checks;
      checks.diagnose = true;
      const Inputs inputs = make_inputs(p);
      const Verdict verdict = judge(kernel, p, inputs, oracle(p, inputs), checks);
      if (failures.empty()) {
        lines.push_back(fmt::format("{}: the smallest of them:", kernel.name));
        lines.push_back("  " + repro_line(options, options.cases[i], kernel.name));
        for (const std::string& line : findings(p, verdict)) lines.push_back("    " + line);
      }
      failures.push_back({kernel.name, suspects_of(verdict)});
    }
    for (const std::string& line : common_faults(failures)) {
      lines.push_back(fmt::format("of the {} smallest, {}", failures.size(), line));
    }
  }
  return lines;
}

}  // namespace

cli::Outcome outcome_of_random(const VerifyRun& options, const Results& results) {
  Index passed = 0, failed = 0, unsupported = 0;
  report::Lines end;
  std::vector<std::string> why_unsupported;
  report::Table failures;
  failures.name = "failure";
  for (const CaseResult& result : results.cases) {
    for (const report::Record& record : result.records) append(failures, record);
    append_all(end.lines, result.failures);
    append_all(why_unsupported, result.why_unsupported);
    passed += result.passed;
    failed += result.failed;
    unsupported += result.unsupported;
  }
  const std::size_t left_out = options.cases.size() - results.cases.size();
  const bool interrupted = left_out > 0 && !results.failed_fast;
  cli::Outcome outcome;
  outcome.report.schema = "swa.verify-random/1";
  outcome.report.summary = {
      {"problems", static_cast<Index>(results.cases.size())},
      {"seed", seed_cell(*options.seed)},
      {"pass", passed},
      {"fail", failed},
      {"unsupported", unsupported},
      {"interrupted", interrupted},
      {"left_out", static_cast<Index>(left_out)},
      {"gpu", gpu_absence().empty() ? report::Value("run") : report::Value(gpu_absence())}};
  outcome.report.blocks = {preamble(options), tally(options, results)};
  if (failed > 0) outcome.report.blocks.emplace_back(failures);
  outcome.status = failed > 0 ? 1 : 0;

  const std::string who =
      fmt::format("{} problems of seed {}", results.cases.size(), *options.seed);
  end.lines.insert(end.lines.begin(),
                   failed == 0
                       ? fmt::format("{}: {} of {} passed", who, passed, passed + unsupported)
                       : fmt::format("{}: {} of {} did not pass; to run one of them again:", who,
                                     failed, passed + failed + unsupported));
  append_all(end.lines, reasons_of_unsupported(why_unsupported));
  const std::string part =
      fmt::format("{} of {} problems were run", results.cases.size(), options.cases.size());
  if (results.failed_fast && left_out > 0) end.lines.push_back("--fail-fast: " + part);
  if (interrupted) {
    end.lines.push_back("interrupted: " + part);
    terminal::say_interrupted(part);
    outcome.report.interrupted = part;
    outcome.status = terminal::kInterrupted;
  } else {
    append_all(end.lines, diagnose_smallest(options, results));
  }
  if (options.dump) end.lines.push_back(options.dump->finish());
  outcome.report.blocks.emplace_back(end);
  return outcome;
}

}  // namespace swa::commands
