// swa bench: how fast are the kernels, as a share of what they issue and of what the machine can
// do?
#include <fmt/format.h>

#include <algorithm>

#include "cli/problem_sweep.hpp"
#include "cli/values.hpp"
#include "commands/bench_plan.hpp"
#include "commands/case_memory.hpp"
#include "commands/choose.hpp"
#include "commands/commands.hpp"
#include "commands/gpu_bench.hpp"
#include "commands/problem_record.hpp"
#include "commands/timing.hpp"
#include "error.hpp"
#include "kernels/forward.hpp"
#include "kernels/timer.hpp"
#include "memory.hpp"
#include "parallel.hpp"
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
  GpuBench gpu;  // no kernels where none was chosen
  bool figure = false;
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
report::Table measure(const Options& options, std::vector<figures::TimePoint>& points) {
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
          points.push_back(time_point(kernel.name, p, quantile(timing.seconds, 0.5)));
        }
        if (stop_requested()) return table;
      }
    }
  }
  return table;
}

// Of the CPU's and the GPU's; where --kernel is left out, the GPU's alone if there is one.
void choose_kernels(const cli::Option& option, Options& options) {
  const std::vector<TimedKernel> on_cpu = timed_kernels(options.tile);
  const std::vector<std::string> on_gpu = gpu_kernel_names();
  if (!option.given() && !on_gpu.empty()) {
    options.gpu.kernels = on_gpu;
    return;
  }
  std::vector<std::string> names;
  for (const TimedKernel& kernel : on_cpu) names.push_back(kernel.name);
  names.insert(names.end(), on_gpu.begin(), on_gpu.end());
  for (const std::size_t i : choose_names(option, names, gpu_absence(),
                                          "leave --kernel out to time the CPU's, or name one")) {
    if (i < on_cpu.size()) {
      options.kernels.push_back(on_cpu[i]);
    } else {
      options.gpu.kernels.push_back(names[i]);
    }
  }
}

cli::Outcome run(const Options& options) {
  set_thread_count(*std::max_element(options.threads.begin(), options.threads.end()));
  if (!options.kernels.empty()) {
    for (const Case& c : options.cases) require_memory_of(c.problem, options.tile);
  }
  if (options.figure) {  // what cannot be drawn is refused before it is timed
    std::vector<figures::TimePoint> sweep;
    for (const Case& c : options.cases) sweep.push_back(time_point("any", c.problem, 1));
    figures::time_chart(sweep, "");
  }
  const terminal::StopOnInterrupt stop;
  std::vector<figures::TimePoint> points;
  const report::Table table = options.kernels.empty() ? report::Table() : measure(options, points);
  GpuBenchResult gpu;
  if (!options.gpu.kernels.empty()) gpu = time_on_gpu(options.gpu);
  points.insert(points.end(), gpu.points.begin(), gpu.points.end());
  const double peak = peak_bytes();
  cli::Outcome outcome;
  outcome.report.schema = "swa.bench/1";
  outcome.report.summary = {{"peak_rss_bytes", peak}, {"interrupted", stop_requested()}};
  report::Lines words{
      {"useful: 2 (head_dim + head_dim_v) FLOP per visible pair; issued: what the products "
       "compute,",
       "hidden pairs and the oracles' sums of weight |v| included (docs/bench.md)"}};
  if (!table.rows.empty()) {
    words.lines.push_back(
        "roof:   a matrix product of the kernel's type on as many threads, measured between the "
        "rounds");
  }
  if (!options.gpu.kernels.empty()) {
    words.lines.push_back(
        "GPU:    a launch between two events after the L2 was flushed; random normal inputs, the "
        "kernels take turns");
  }
  outcome.report.blocks.push_back(words);
  if (!table.rows.empty()) outcome.report.blocks.push_back(table);
  if (!gpu.table.rows.empty()) outcome.report.blocks.push_back(gpu.table);
  if (!gpu.unsupported.lines.empty()) outcome.report.blocks.push_back(gpu.unsupported);
  outcome.report.blocks.push_back(report::Lines{
      {fmt::format("peak memory of the process: {:.1f} MiB", peak / (1024.0 * 1024))}});
  if (options.figure && !points.empty()) {
    outcome.figure = figures::time_chart(points, swa::options(options.cases.front().problem));
  }
  if (stop_requested()) {
    terminal::say_interrupted("the report holds the rounds that were run");
    outcome.status = terminal::kInterrupted;
  }
  return outcome;
}

}  // namespace

std::unique_ptr<cli::Command> bench(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "bench", "time the kernels: the CPU's against its matrix product, the GPU's by events",
      "swa bench --W 128 --nq 1024 --rounds 2");
  const auto problem = std::make_shared<cli::ProblemOptions>(*command);
  const std::vector<const cli::Option*> say_which = command->options();
  const cli::Option& kernel = command->add("kernel", "*");
  const cli::Option& BM = command->add("BM", "64", "query rows of a tile of cpu-tiled");
  const cli::Option& BN = command->add("BN", "64", "keys of a tile of cpu-tiled");
  const cli::Option& rounds = command->add("rounds", "5");
  const cli::Option& threads =
      command->add("threads", "", "threads of a kernel, such as 1,2 (default: all cores)");
  const cli::Option& max_seconds = command->add("max_seconds", "10");
  const cli::Option& plan = command->add_flag(
      "--plan", "print what the GPU kernels would do, and run nothing; needs no GPU");
  command->add_figure("time against n_q or W");
  command->on_run([=, self = command.get(), &kernel, &BM, &BN, &rounds, &threads, &max_seconds,
                   &plan] {
    if (plan.given()) {
      std::vector<const cli::Option*> allowed = say_which;
      allowed.push_back(&kernel);
      self->refuse_beside(plan, "runs nothing", allowed);
      return plan_launches(problem->read(), kernel);
    }
    Options options;
    options.figure = self->wants_figure();
    options.tile = {cli::parse_count(BM.name, BM.text), cli::parse_count(BN.name, BN.text)};
    choose_kernels(kernel, options);
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
    options.gpu.cases = options.cases;
    options.gpu.max_seconds = options.max_seconds;
    if (rounds.given()) options.gpu.rounds = options.rounds;
    return run(options);
  });
  return command;
}

}  // namespace swa::commands
