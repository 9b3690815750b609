// swa verify: is a kernel right?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/data.hpp"
#include "cli/memory.hpp"
#include "cli/problem_options.hpp"
#include "cli/suggest.hpp"
#include "cli/values.hpp"
#include "commands/commands.hpp"
#include "commands/problem_record.hpp"
#include "error.hpp"
#include "kernels/forward.hpp"
#include "mask/conventions.hpp"
#include "problem/words.hpp"
#include "reference/tiled.hpp"
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
      .hide("rows_without_keys", rows_without_keys(c.problem.mask()))
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

void require_memory_for(const Problem& p, TileShape tile) {
  cli::require_memory(oracle_bytes(p) + tiled_bytes(p, tile),
                      fmt::format("the problem '{}'", swa::options(p)));
}

report::Lines preamble(const Options& options) {
  report::Lines lines;
  const std::string absence = gpu_absence();
  if (!absence.empty()) lines.lines.push_back("GPU kernels: not run, " + absence);
  const Problem& first = options.cases.front().problem;
  if (options.cases.size() == 1) lines.lines.push_back("mask:  " + describe(first.mask()));
  if (const Index rows = rows_without_keys(first.mask()); options.cases.size() == 1 && rows > 0) {
    lines.lines.push_back(fmt::format("rows:  {} of {} see no key: output 0, lse {}", rows,
                                      first.n_q, first.sink_logits ? "the sink logit" : "-inf"));
  }
  lines.lines.push_back("bound: " + Tolerance(first, options.kernels.front().sums).formula() +
                        (options.cases.size() == 1 ? "" : " (first case)"));
  lines.lines.push_back(
      "       n keys of the row, M its largest |score|, A sum of weight |v|, o output"
      " (docs/numerics.md)");
  return lines;
}

cli::Outcome run(const Options& options) {
  for (const Case& c : options.cases) require_memory_for(c.problem, options.tile);
  Index passed = 0, failed = 0, unsupported = 0;
  report::Lines failures;
  std::vector<Problem> problems;
  for (const Case& c : options.cases) problems.push_back(c.problem);
  const ProblemColumns columns(problems);
  report::Table table;
  {
    terminal::Progress progress("verify", options.cases.size());
    std::size_t done = 0;
    for (const Case& c : options.cases) {
      progress.update(done++, swa::options(c.problem));
      const Inputs inputs = make_inputs(c.problem);
      const Oracle expected = oracle(c.problem, inputs);
      for (const Kernel& kernel : options.kernels) {
        const Verdict verdict = judge(kernel, c.problem, inputs, expected);
        const std::string repro = repro_line(options, c.problem, kernel.name);
        append(table, record_of(c, verdict, columns, expected,
                                Tolerance(c.problem, kernel.sums).formula(), repro));
        passed += verdict.status == Status::pass;
        unsupported += verdict.status == Status::unsupported;
        if (!verdict.is_no()) continue;
        ++failed;
        failures.lines.push_back("  " + repro);
        if (!verdict.reason.empty()) {
          failures.lines.push_back(fmt::format("    {}: {}", name(verdict.status), verdict.reason));
        }
      }
    }
  }
  cli::Outcome outcome;
  outcome.report.schema = "swa.verify/1";
  outcome.report.summary = {
      {"pass", passed},
      {"fail", failed},
      {"unsupported", unsupported},
      {"gpu", gpu_absence().empty() ? report::Value("run") : report::Value(gpu_absence())}};
  outcome.report.blocks = {preamble(options), table};
  failures.lines.insert(
      failures.lines.begin(),
      failed == 0 ? fmt::format("{} of {} passed", passed, table.rows.size())
                  : fmt::format("{} of {} did not pass; to run one of them again:", failed,
                                table.rows.size()));
  outcome.report.blocks.push_back(failures);
  outcome.status = failed == 0 ? 0 : 1;
  return outcome;
}

// The kernels whose names match one of the patterns. Throws CannotRun where only kernels that this
// build lacks do, UsageError where none does.
std::vector<Kernel> choose_kernels(const cli::Option& option, TileShape tile) {
  std::vector<Kernel> all = cpu_kernels(tile);
  for (Kernel& kernel : gpu_kernels()) all.push_back(std::move(kernel));
  std::vector<Kernel> chosen;
  for (const std::string& pattern : cli::split(option.name, option.text)) {
    bool any = false;
    for (const Kernel& kernel : all) {
      if (!matches(pattern, kernel.name)) continue;
      any = true;
      const bool twice = std::any_of(chosen.begin(), chosen.end(),
                                     [&](const Kernel& c) { return c.name == kernel.name; });
      if (!twice) chosen.push_back(kernel);
    }
    if (any) continue;
    for (const std::string_view family : gpu_kernel_families()) {
      if (matches(family, pattern) || matches(pattern, family)) {
        throw CannotRun(
            fmt::format("{} '{}' names GPU kernels, and {}", option.name, pattern, gpu_absence()),
            "the CPU check still runs: --kernel cpu-tiled");
      }
    }
    std::vector<std::string> names;
    for (const Kernel& kernel : all) names.push_back(kernel.name);
    throw UsageError(fmt::format("{} '{}' names no kernel", option.name, pattern),
                     cli::did_you_mean(pattern, names));
  }
  return chosen;
}

// Kernels hold these numbers in fp32.
void require_fp32(const cli::Option& option, double value) {
  if (std::abs(value) <= largest_finite(Dtype::fp32)) return;
  throw UsageError(fmt::format("{} {} is more than fp32 holds", option.name, option.text),
                   fmt::format("the largest value is {:.7g}", largest_finite(Dtype::fp32)));
}

// The options that state problems, and what they have no say in when a suite does.
struct ProblemOptions {
  cli::SizeOptions sizes;
  cli::MaskOptions masks;
  const cli::Option &batch, &heads_q, &heads_kv, &head_dim, &dtype, &softcap, &scale, &sink_logits,
      &seed;

  explicit ProblemOptions(cli::Command& command)
      : sizes(command),
        masks(command),
        batch(command.add("batch", "1")),
        heads_q(command.add("heads_q", "1")),
        heads_kv(
            command.add("heads_kv", "", "key and value heads (default: as many as query heads)")),
        head_dim(command.add("head_dim", "64")),
        dtype(command.add("dtype", "fp32", "type of the elements: fp64, fp32, bf16 or fp16")),
        softcap(command.add("softcap")),
        scale(command.add("scale", "", "factor of q.k (default: 1 / sqrt(head_dim))")),
        sink_logits(command.add_flag("--sink-logits", std::string(word("sink_logits").meaning))),
        seed(command.add("seed", "0")) {}

  bool given() const {
    return sizes.given() || masks.given() || batch.given() || heads_q.given() || heads_kv.given() ||
           head_dim.given() || dtype.given() || softcap.given() || scale.given() ||
           sink_logits.given() || seed.given();
  }

  std::vector<Case> read() const {
    constexpr cli::Limits kHeadDim{1, 1 << 16};
    Sweep sweep;
    sizes.read(sweep);
    sweep.windows = masks.windows();
    sweep.sinks = masks.sinks();
    sweep.base.anchor = masks.anchor();
    sweep.batch = cli::parse_counts(batch.name, batch.text);
    sweep.heads_q = cli::parse_counts(heads_q.name, heads_q.text);
    if (heads_kv.given()) sweep.heads_kv = cli::parse_counts(heads_kv.name, heads_kv.text);
    sweep.head_dim = cli::parse_counts(head_dim.name, head_dim.text, kHeadDim);
    for (const std::string& type : cli::split(dtype.name, dtype.text)) {
      sweep.dtypes.push_back(
          *parse_dtype(cli::parse_choice(dtype.name, type, {"fp64", "fp32", "bf16", "fp16"})));
    }
    if (softcap.given()) {
      sweep.base.softcap = cli::parse_real(softcap.name, softcap.text);
      if (!(sweep.base.softcap > 0)) {
        throw UsageError(fmt::format("{} {} is not above 0", softcap.name, softcap.text),
                         "for no softcap leave the option out");
      }
      require_fp32(softcap, sweep.base.softcap);
    }
    if (scale.given()) {
      sweep.base.scale = cli::parse_real(scale.name, scale.text);
      require_fp32(scale, *sweep.base.scale);
    }
    sweep.base.sink_logits = sink_logits.given();
    sweep.base.seed = cli::parse_seed(seed.name, seed.text);
    std::vector<Case> cases;
    for (const Problem& problem : expand(sweep)) cases.push_back({"", problem});
    return cases;
  }
};

}  // namespace

std::unique_ptr<cli::Command> verify(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "verify", "compare kernels with the reference, element by element",
      "swa verify --W 100 --nq 96 --nk 600");
  command->judge({"status", {"case", "repro"}, "reason", {"pass"}, {"unsupported"}, {"error"}});
  const auto problem = std::make_shared<ProblemOptions>(*command);
  const cli::Option& suite = command->add_other(
      "--suite", "", "a named list of problems instead: chapter (the default with no problem)");
  const cli::Option& kernel = command->add("kernel", "*");
  const cli::Option& BM = command->add("BM", "64", "query rows of a tile of cpu-tiled");
  const cli::Option& BN = command->add("BN", "64", "keys of a tile of cpu-tiled");
  command->on_run([=, &suite, &kernel, &BM, &BN] {
    Options options;
    options.tile = {cli::parse_count(BM.name, BM.text), cli::parse_count(BN.name, BN.text)};
    options.kernels = choose_kernels(kernel, options.tile);
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
