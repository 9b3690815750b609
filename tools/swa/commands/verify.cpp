// swa verify: is a kernel right?
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/data.hpp"
#include "cli/memory.hpp"
#include "cli/problem_sweep.hpp"
#include "cli/values.hpp"
#include "commands/case_groups.hpp"
#include "commands/case_memory.hpp"
#include "commands/choose.hpp"
#include "commands/commands.hpp"
#include "commands/problem_record.hpp"
#include "error.hpp"
#include "kernels/forward.hpp"
#include "reference/parallel.hpp"
#include "terminal/interrupt.hpp"
#include "terminal/progress.hpp"
#include "verify/judge.hpp"
#include "verify/kernel.hpp"

namespace swa::commands {
namespace {

struct Options {
  std::vector<Case> cases;  // name empty where the problem came from the command line
  std::vector<Kernel> kernels;
  TileShape tile;
};

report::Value position(const std::array<Index, 4>& index) {
  return report::Numbers(index.begin(), index.end());
}

// Rows of one head that see no key, over all sequences.
Count blind_rows(const Problem& p) {
  Count rows = 0;
  for (const SharedMask& s : shared_masks(p)) {
    rows += Count{rows_without_keys(s.mask)} * s.sequences;
  }
  return rows;
}

report::Record record_of(const Case& c, const Verdict& v, const ProblemColumns& columns,
                         const Oracle& oracle, const std::string& formula,
                         const std::string& repro) {
  using report::Value;
  const bool ran = v.compared();
  const bool has_lse = ran && v.lse.elements > 0;
  const auto if_ran = [ran](const Value& value) { return ran ? value : Value(); };
  const auto [b, h, row, d] = v.output.worst;
  const RowFacts& facts = oracle.row_facts(b, h, row);
  report::Record record;
  record
      .add({"case", "case", "", c.name.empty() ? report::Show::machine : report::Show::everywhere},
           c.name)
      .add({"kernel", "kernel"}, v.kernel);
  add_mask(record, c.problem, columns);
  add_rest(record, c.problem, columns);
  record.add({"status", "status"}, std::string(name(v.status)))
      .add({"max_err", "max err", ".2e"}, if_ran(v.output.error))
      .add({"bound", "bound", ".2e"}, if_ran(v.output.bound))
      .add({"worst", "worst at (b, h, row, d)"}, if_ran(position(v.output.worst)))
      .hide("expected", if_ran(v.output.expected))
      .hide("got", if_ran(v.output.got))
      .hide("worst_keys", if_ran(facts.keys))
      .hide("worst_score_bound", if_ran(facts.score_bound))
      .hide("worst_abs_output", if_ran(oracle.abs_output.row(b, h, row)[d]))
      .hide("worst_largest_v", if_ran(facts.largest_v))
      .hide("worst_denominator", if_ran(facts.denominator))
      .add({"nonfinite", "NaN/Inf"}, if_ran(v.output.nonfinite))
      .add({"mismatches", "mismatches"}, if_ran(v.output.mismatches))
      .hide("elements", if_ran(v.output.elements))
      .hide("first_mismatch",
            v.output.first_mismatch ? position(*v.output.first_mismatch) : Value())
      .hide("lse_max_err", has_lse ? Value(v.lse.error) : Value())
      .hide("lse_bound", has_lse ? Value(v.lse.bound) : Value())
      .add({"lse_mismatches", "lse mismatches"}, has_lse ? Value(v.lse.mismatches) : Value())
      .hide("rows_without_keys", count_cell(blind_rows(c.problem)))
      .hide("tolerance", formula)
      .hide("reason", v.reason.empty() ? Value() : Value(v.reason))
      .hide("repro", repro);
  return record;
}

std::string repro_line(const Options& options, const Problem& problem, const std::string& kernel) {
  std::string line = fmt::format("swa verify {}", swa::options(problem));
  const TileShape usual;
  if (options.tile.BM != usual.BM) line += fmt::format(" --BM {}", options.tile.BM);
  if (options.tile.BN != usual.BN) line += fmt::format(" --BN {}", options.tile.BN);
  return line + " --kernel " + kernel;
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
  std::vector<std::string> failures;
  Index passed = 0, failed = 0, unsupported = 0;
};

CaseResult run_case(const Options& options, const Case& c, const ProblemColumns& columns) {
  CaseResult result;
  const Inputs inputs = make_inputs(c.problem);
  const Oracle expected = oracle(c.problem, inputs);
  for (const Kernel& kernel : options.kernels) {
    const Verdict verdict = judge(kernel, c.problem, inputs, expected);
    const std::string repro = repro_line(options, c.problem, kernel.name);
    result.records.push_back(record_of(c, verdict, columns, expected,
                                       Tolerance(c.problem, kernel.sums).formula(), repro));
    result.passed += verdict.status == Status::pass;
    result.unsupported += verdict.status == Status::unsupported;
    if (!verdict.is_no()) continue;
    ++result.failed;
    result.failures.push_back("  " + repro);
    if (!verdict.reason.empty()) {
      result.failures.push_back(fmt::format("    {}: {}", name(verdict.status), verdict.reason));
    }
  }
  return result;
}

// The results of the cases in their order, up to the first that a signal left out.
std::vector<CaseResult> run_cases(const Options& options) {
  std::vector<Problem> problems;
  for (const Case& c : options.cases) problems.push_back(c.problem);
  const ProblemColumns columns(problems);
  // Of other kernels nobody knows whether two may run at once.
  const bool only_cpu = std::all_of(options.kernels.begin(), options.kernels.end(),
                                    [](const Kernel& k) { return k.name.starts_with("cpu-"); });
  const auto bytes = [&](const Problem& p) { return bytes_of(p, options.tile); };
  const std::vector<CaseGroup> groups =
      group_cases(options.cases, bytes, only_cpu ? cli::spare_bytes() : 0, thread_count());

  std::vector<std::optional<CaseResult>> slots(options.cases.size());
  terminal::Progress progress("verify", options.cases.size());
  progress.update(0, swa::options(problems.front()));
  run_groups(groups, [&](std::size_t i) {
    slots[i] = run_case(options, options.cases[i], columns);
    progress.finish_one(swa::options(problems[i]));
  });
  std::vector<CaseResult> results;
  for (std::optional<CaseResult>& slot : slots) {
    if (!slot) break;
    results.push_back(std::move(*slot));
  }
  return results;
}

cli::Outcome run(const Options& options) {
  for (const Case& c : options.cases) require_memory_of(c.problem, options.tile);
  const terminal::StopOnInterrupt stop;
  const std::vector<CaseResult> results = run_cases(options);
  const bool interrupted = results.size() < options.cases.size();
  Index passed = 0, failed = 0, unsupported = 0;
  report::Lines failures;
  report::Table table;
  for (const CaseResult& result : results) {
    for (const report::Record& record : result.records) append(table, record);
    failures.lines.insert(failures.lines.end(), result.failures.begin(), result.failures.end());
    passed += result.passed;
    failed += result.failed;
    unsupported += result.unsupported;
  }
  cli::Outcome outcome;
  outcome.report.schema = "swa.verify/1";
  outcome.report.summary = {
      {"pass", passed},
      {"fail", failed},
      {"unsupported", unsupported},
      {"interrupted", interrupted},
      {"gpu", gpu_absence().empty() ? report::Value("run") : report::Value(gpu_absence())}};
  outcome.report.blocks = {preamble(options)};
  if (!table.rows.empty()) outcome.report.blocks.push_back(table);
  failures.lines.insert(
      failures.lines.begin(),
      failed == 0 ? fmt::format("{} of {} passed", passed, table.rows.size())
                  : fmt::format("{} of {} did not pass; to run one of them again:", failed,
                                table.rows.size()));
  outcome.status = failed == 0 ? 0 : 1;
  if (interrupted) {
    const std::string part =
        fmt::format("{} of {} cases were run", results.size(), options.cases.size());
    failures.lines.insert(failures.lines.begin(), "interrupted: " + part);
    terminal::say_interrupted(part);
    outcome.report.interrupted = part;
    outcome.status = terminal::kInterrupted;
  }
  outcome.report.blocks.push_back(failures);
  return outcome;
}

std::vector<Kernel> all_kernels(TileShape tile) {
  std::vector<Kernel> all = cpu_kernels(tile);
  for (Kernel& kernel : gpu_kernels()) all.push_back(std::move(kernel));
  return all;
}

}  // namespace

std::unique_ptr<cli::Command> verify(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "verify", "compare kernels with the reference, element by element",
      "swa verify --W 100 --nq 96 --nk 600");
  command->judge({"status", {"case", "repro"}, "reason", {"pass"}, {"unsupported"}, {"error"}});
  const auto problem = std::make_shared<cli::ProblemOptions>(*command);
  const cli::Option& suite = command->add_other(
      "--suite", "", "a named list of problems instead: chapter (the default with no problem)");
  const cli::Option& kernel = command->add("kernel", "*");
  const cli::Option& BM = command->add("BM", "64", "query rows of a tile of cpu-tiled");
  const cli::Option& BN = command->add("BN", "64", "keys of a tile of cpu-tiled");
  command->on_run([=, &suite, &kernel, &BM, &BN] {
    Options options;
    options.tile = {cli::parse_count(BM.name, BM.text), cli::parse_count(BN.name, BN.text)};
    options.kernels = choose(kernel, all_kernels(options.tile), gpu_absence(),
                             "the CPU check still runs: --kernel cpu-tiled");
    if (suite.given() && problem->given()) {
      throw UsageError("--suite brings its own problems",
                       "leave --suite out, or the options that state a problem");
    }
    if (suite.given() || !problem->given()) {
      const std::string chosen =
          suite.given() ? cli::parse_choice(suite.name, suite.text, {"chapter"}) : "chapter";
      options.cases = read_cases(cli::data_path("cases/" + chosen + ".toml"));
    } else {
      options.cases = problem->read();
    }
    return run(options);
  });
  return command;
}

}  // namespace swa::commands
