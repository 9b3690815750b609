// swa bench: how fast are the CPU kernels and the oracles, as a share of what the machine can do?
#include <fmt/format.h>

#include <algorithm>

#include "cli/problem_sweep.hpp"
#include "cli/values.hpp"
#include "commands/case_memory.hpp"
#include "commands/choose.hpp"
#include "commands/commands.hpp"
#include "commands/problem_record.hpp"
#include "commands/timing.hpp"
#include "error.hpp"
#include "memory.hpp"
#include "reference/parallel.hpp"
#include "terminal/interrupt.hpp"
#include "terminal/progress.hpp"
#include "verify/kernel.hpp"
#include "verify/timed_kernel.hpp"

namespace swa::commands {
namespace {

constexpr Index kMostThreads = 1024;

struct Options {
  std::vector<Case> cases;
  std::vector<TimedKernel> kernels;
  std::vector<Index> threads;
  TileShape tile;
  Index rounds = 5;
  double max_seconds = 10;
};

std::string repro_line(const Options& options, const Problem& problem, const std::string& kernel,
                       Index threads) {
  const Options usual;
  std::string line =
      fmt::format("swa bench {} --kernel {} --threads {}", swa::options(problem), kernel, threads);
  if (options.rounds != usual.rounds) line += fmt::format(" --rounds {}", options.rounds);
  if (options.max_seconds != usual.max_seconds) {
    line += fmt::format(" --max-seconds {}", options.max_seconds);
  }
  if (options.tile.BM != usual.tile.BM) line += fmt::format(" --BM {}", options.tile.BM);
  if (options.tile.BN != usual.tile.BN) line += fmt::format(" --BN {}", options.tile.BN);
  return line;
}

report::Record record_of(const Options& options, const TimedKernel& kernel, const Problem& p,
                         const ProblemColumns& columns, Index threads, const Timing& timing) {
  const double seconds = quantile(timing.seconds, 0.5);
  const double useful = kernel.useful_flops(p), issued = kernel.issued_flops(p);
  const GemmShape& shape = timing.roof_shape;
  report::Record record;
  record.add({"kernel", "kernel"}, kernel.name);
  add_mask(record, p, columns);
  add_rest(record, p, columns);
  record.hide("BM", options.tile.BM)
      .hide("BN", options.tile.BN)
      .add({"threads", "threads"}, threads)
      .add({"rounds", "rounds"}, static_cast<Index>(timing.seconds.size()))
      .add({"seconds", "median s", ".4f"}, seconds)
      .add({"seconds_min", "min s", ".4f"}, timing.seconds.front())
      .add({"seconds_iqr", "IQR s", ".4f"},
           quantile(timing.seconds, 0.75) - quantile(timing.seconds, 0.25))
      .hide("useful_flops", useful)
      .hide("issued_flops", issued)
      .hide("issued_pairs", kernel.issued_pairs(p))
      .hide("issued_means", kernel.issued_means)
      .add({"useful_flops_per_s", "useful FLOP/s", ".3g"}, useful / seconds)
      .add({"issued_flops_per_s", "issued FLOP/s", ".3g"}, issued / seconds)
      .add({"roof_flops_per_s", "roof FLOP/s", ".3g"}, timing.roof)
      .hide("roof_dtype", std::string(kernel.in_double(p) ? "fp64" : "fp32"))
      .hide("roof_shape", report::Numbers{shape.m, shape.n, shape.k})
      .add({"share_of_roof", "useful / roof", ".3f"}, useful / seconds / timing.roof)
      .hide("nonfinite", timing.nonfinite)
      .hide("repro", repro_line(options, p, kernel.name, threads));
  return record;
}

// A record for each problem, number of threads and kernel, as far as time was given.
report::Table measure(const Options& options) {
  std::vector<Problem> problems;
  for (const Case& c : options.cases) problems.push_back(c.problem);
  const ProblemColumns columns(problems);
  terminal::Progress progress("bench",
                              problems.size() * options.threads.size() * options.kernels.size());
  std::size_t done = 0;
  report::Table table;
  for (const Problem& p : problems) {
    const Inputs inputs = make_inputs(p);
    for (const Index threads : options.threads) {
      set_thread_count(threads);
      for (const TimedKernel& kernel : options.kernels) {
        progress.update(done++, kernel.name + " " + swa::options(p));
        const Timing timing = time_rounds(kernel, p, inputs, options.rounds, options.max_seconds);
        if (!timing.seconds.empty()) {
          append(table, record_of(options, kernel, p, columns, threads, timing));
        }
        if (stop_requested()) return table;
      }
    }
  }
  return table;
}

cli::Outcome run(const Options& options) {
  set_thread_count(*std::max_element(options.threads.begin(), options.threads.end()));
  for (const Case& c : options.cases) require_memory_of(c.problem, options.tile);
  const terminal::StopOnInterrupt stop;
  const report::Table table = measure(options);
  const double peak = peak_bytes();
  cli::Outcome outcome;
  outcome.report.schema = "swa.bench/1";
  outcome.report.summary = {{"peak_rss_bytes", peak}, {"interrupted", stop_requested()}};
  outcome.report.blocks.push_back(report::Lines{
      {"useful: 2 (head_dim + head_dim_v) FLOP per visible pair; issued: what the products "
       "compute,",
       "hidden pairs and the oracles' sums of weight |v| included (docs/bench.md)",
       "roof:   a matrix product of the kernel's type on as many threads, measured between the "
       "rounds"}});
  if (!table.rows.empty()) outcome.report.blocks.push_back(table);
  outcome.report.blocks.push_back(report::Lines{
      {fmt::format("peak memory of the process: {:.1f} MiB", peak / (1024.0 * 1024))}});
  if (stop_requested()) {
    terminal::say_interrupted("the report holds the rounds that were run");
    outcome.status = terminal::kInterrupted;
  }
  return outcome;
}

}  // namespace

std::unique_ptr<cli::Command> bench(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "bench", "time the CPU kernels and the oracles against the machine's matrix product",
      "swa bench --W 128 --nq 1024 --rounds 2");
  const auto problem = std::make_shared<cli::ProblemOptions>(*command);
  const cli::Option& kernel = command->add("kernel", "*");
  const cli::Option& BM = command->add("BM", "64", "query rows of a tile of cpu-tiled");
  const cli::Option& BN = command->add("BN", "64", "keys of a tile of cpu-tiled");
  const cli::Option& rounds = command->add("rounds", "5");
  const cli::Option& threads =
      command->add("threads", "", "threads of a kernel, such as 1,2 (default: all cores)");
  const cli::Option& max_seconds = command->add("max_seconds", "10");
  command->on_run([=, &kernel, &BM, &BN, &rounds, &threads, &max_seconds] {
    Options options;
    options.tile = {cli::parse_count(BM.name, BM.text), cli::parse_count(BN.name, BN.text)};
    options.kernels = choose(kernel, timed_kernels(options.tile), "bench times CPU kernels only",
                             "leave --kernel out to time all of them, or name one");
    options.rounds = cli::parse_count(rounds.name, rounds.text, {1, 1'000'000});
    options.threads = threads.given()
                          ? cli::parse_counts(threads.name, threads.text, {1, kMostThreads})
                          : std::vector<Index>{thread_count()};
    options.max_seconds = cli::parse_real(max_seconds.name, max_seconds.text);
    if (!(options.max_seconds > 0)) {
      throw UsageError(fmt::format("{} {} is not above 0", max_seconds.name, max_seconds.text),
                       "one round is always run; give the time in seconds after which no further "
                       "one begins");
    }
    options.cases = problem->read();
    for (const Case& c : options.cases) {
      if (!needs_contiguous(c.problem)) continue;
      throw UsageError(fmt::format("--cache {}: bench times kernels that read contiguous keys",
                                   name(c.problem.cache.kind)),
                       "leave --cache out; swa verify takes it");
    }
    return run(options);
  });
  return command;
}

}  // namespace swa::commands
