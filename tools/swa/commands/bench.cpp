// swa bench: how fast are the kernels, as a share of what they issue and of what the machine can
// do?
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/values.hpp"
#include "commands/bench_plan.hpp"
#include "commands/case_options.hpp"
#include "commands/choose.hpp"
#include "commands/commands.hpp"
#include "commands/cpu_bench.hpp"
#include "commands/drawn_records.hpp"
#include "commands/gpu_bench.hpp"
#include "commands/regressions.hpp"
#include "commands/timing.hpp"
#include "error.hpp"
#include "kernels/forward.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "terminal/interrupt.hpp"
#include "verify/kernel.hpp"

namespace swa::commands {
namespace {

constexpr Index kMostThreads = 1024;

enum class Figure : std::uint8_t { none, times, roofline };

struct Baseline {
  std::vector<report::ReadRecord> records;  // empty: nothing to compare with
  double max_regression = 0;
};

struct Options {
  std::vector<Case> cases;
  CpuBench cpu;  // no kernels where none was chosen
  GpuBench gpu;
  Baseline baseline;
  Figure figure = Figure::none;
};

// Of the CPU's and the GPU's; where --kernel is left out, those of the GPU that are for use, if
// there is one.
void choose_kernels(const cli::Option& option, bool named_cases, Options& options) {
  const std::vector<TimedKernel> on_cpu = timed_kernels(options.cpu.tile);
  const std::vector<std::string> on_gpu = gpu_kernel_names();
  if (!option.given() && !on_gpu.empty()) {
    options.gpu.kernels = usual_gpu_kernels();
    return;
  }
  if (!option.given() && named_cases) {
    throw CannotRun("the problems of suites and case files are timed on a GPU: " + gpu_absence(),
                    "name kernels of the CPU with --kernel, or add --plan or --list");
  }
  std::vector<std::string> names;
  for (const TimedKernel& kernel : on_cpu) names.push_back(kernel.name);
  names.insert(names.end(), on_gpu.begin(), on_gpu.end());
  for (const std::size_t i : choose_names(option, names, gpu_absence(),
                                          "leave --kernel out to time the CPU's, or name one")) {
    if (i < on_cpu.size()) {
      options.cpu.kernels.push_back(on_cpu[i]);
    } else {
      options.gpu.kernels.push_back(names[i]);
    }
  }
}

std::vector<Regime> parse_regimes(const cli::Option& option) {
  std::vector<Regime> regimes;
  for (const std::string& word : cli::split(option.name, option.text)) {
    regimes.push_back(*parse_regime(cli::parse_choice(option.name, word, regime_words())));
  }
  return regimes;
}

double parse_seconds(const cli::Option& option) {
  const double seconds = cli::parse_real(option.name, option.text);
  if (seconds > 0) return seconds;
  throw UsageError(fmt::format("{} {} is not above 0", option.name, option.text),
                   "one round is always run; give the time in seconds after which no further one "
                   "begins");
}

void require_contiguous(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    if (!needs_contiguous(c.problem)) continue;
    throw UsageError(fmt::format("--cache {}: bench times kernels that read contiguous keys",
                                 name(c.problem.cache.kind)),
                     "leave --cache out; swa verify takes it");
  }
}

Figure parse_figure(const cli::Option& option, bool wanted) {
  const std::string word = cli::parse_choice(option.name, option.text, {"times", "roofline"});
  if (!wanted && option.given()) {
    throw UsageError(
        fmt::format("{} says what --export FILE.svg draws, and there is none", option.name),
        "add --export FILE.svg");
  }
  if (!wanted) return Figure::none;
  return word == "times" ? Figure::times : Figure::roofline;
}

std::string draw(Figure figure, const std::vector<report::ReadRecord>& records,
                 const std::string& problem) {
  if (figure == Figure::roofline) return roofline_of(records, problem);
  return figures::time_chart(time_points(records), problem);
}

report::Lines explain(bool cpu, bool gpu) {
  report::Lines words{
      {"useful: 2 (head_dim + head_dim_v) FLOP per visible pair; issued: what the products "
       "compute,",
       "hidden pairs and the oracles' sums of weight |v| included (docs/bench.md)"}};
  if (cpu) {
    words.lines.push_back(
        "roof:   a matrix product of the kernel's type on as many threads, measured between the "
        "rounds");
  }
  if (gpu) {
    words.lines.push_back(
        "GPU:    graph replays between two events after the L2 was flushed; kernels and roofs take "
        "turns");
  }
  return words;
}

// What cannot be drawn is refused before it is timed.
void require_drawable(const Options& options) {
  if (options.figure != Figure::times) return;
  std::vector<figures::TimePoint> sweep;
  for (const Case& c : options.cases) sweep.push_back(time_point("any", c.problem, 1));
  figures::time_chart(sweep, "");
}

cli::Outcome run(const Options& options) {
  require_drawable(options);
  const terminal::StopOnInterrupt stop;
  report::Table cpu;
  if (!options.cpu.kernels.empty()) cpu = time_on_cpu(options.cpu);
  GpuBenchResult gpu;
  if (!options.gpu.kernels.empty()) gpu = time_on_gpu(options.gpu);
  std::vector<report::ReadRecord> records = report::records_of(cpu);
  const std::vector<report::ReadRecord> of_gpu = report::records_of(gpu.table);
  records.insert(records.end(), of_gpu.begin(), of_gpu.end());

  cli::Outcome outcome;
  report::Report& report = outcome.report;
  report.schema = "swa.bench/1";
  report.blocks.push_back(explain(!cpu.rows.empty(), !options.gpu.kernels.empty()));
  for (const report::Table& table : {cpu, gpu.table}) {
    if (!table.rows.empty()) report.blocks.push_back(table);
  }
  for (const report::Lines& lines : {gpu.unsupported, gpu.wrong, gpu.broken_roofs}) {
    if (!lines.lines.empty()) report.blocks.push_back(lines);
  }
  if (!gpu.wrong.lines.empty()) outcome.status = 1;
  Index slower = 0;
  if (!options.baseline.records.empty() && !records.empty()) {
    const Regressions regressions =
        compare(records, options.baseline.records, options.baseline.max_regression);
    report.blocks.push_back(regressions.table);
    report.blocks.push_back(regressions.counts);
    slower = static_cast<Index>(regressions.slower);
    if (slower > 0) outcome.status = 1;
  }
  const double peak = peak_bytes();
  report.blocks.push_back(report::Lines{
      {fmt::format("peak memory of the process: {:.1f} MiB", peak / (1024.0 * 1024))}});
  report.summary = {{"peak_rss_bytes", peak},
                    {"interrupted", stop_requested()},
                    {"wrong", static_cast<Index>(gpu.wrong.lines.size())},
                    {"broken_roofs", static_cast<Index>(gpu.broken_roofs.lines.size())},
                    {"slower", slower}};
  if (options.figure != Figure::none && !records.empty()) {
    outcome.figure = draw(options.figure, records, swa::options(options.cases.front().problem));
  }
  if (stop_requested()) {
    terminal::say_interrupted("the report holds the rounds that were run");
    outcome.status = terminal::kInterrupted;
  }
  return outcome;
}

// What an earlier run, or tools/peers, wrote.
cli::Outcome redraw(const std::string& path, Figure figure) {
  const std::vector<report::ReadRecord> records = report::read_records(path);
  cli::Outcome outcome;
  outcome.report.schema = "swa.bench.from/1";
  outcome.report.summary = {{"records", static_cast<Index>(records.size())}};
  outcome.report.blocks = {report::Lines{{fmt::format("{} records of {}", records.size(), path)}}};
  outcome.figure = draw(figure, records, path);
  return outcome;
}

}  // namespace

std::unique_ptr<cli::Command> bench(CLI::App& app) {
  auto command = std::make_unique<cli::Command>(
      app, "bench", "time the kernels: the CPU's against its matrix product, the GPU's by events",
      "swa bench --W 128 --nq 1024 --rounds 2");
  const auto cases = std::make_shared<CaseOptions>(*command, "", false);
  const std::vector<const cli::Option*> say_which = command->options();
  const cli::Option& kernel = command->add("kernel", "*");
  const cli::Option& BM = command->add("BM", "64", "query rows of a tile of cpu-tiled");
  const cli::Option& BN = command->add("BN", "64", "keys of a tile of cpu-tiled");
  const cli::Option& rounds = command->add("rounds", "5");
  const cli::Option& threads =
      command->add("threads", "", "threads of a kernel, such as 1,2 (default: all cores)");
  const cli::Option& max_seconds = command->add("max_seconds", "10");
  const cli::Option& regimes = command->add_other(
      "--regime", "interleaved",
      "how a GPU kernel meets the clock: interleaved, alone after a rest, or sustained");
  const cli::Option& launches =
      command->add_flag("--launches", "time launches of the GPU kernels in place of graph replays");
  const cli::Option& plan = command->add_flag(
      "--plan", "print what the GPU kernels would do, and run nothing; needs no GPU");
  const cli::Option& arch =
      command->add_other("--arch", "sm_90", "with --plan: the GPU that is planned for");
  const cli::Option& baseline = command->add_other(
      "--baseline", "", "compare with the .json or .jsonl of an earlier run; 1 if one is slower");
  const cli::Option& max_regression = command->add_other(
      "--max-regression", "5%", "how much slower than the baseline is not slower yet");
  const cli::Option& from = command->add_other(
      "--from", "", "draw what an earlier run or tools/peers wrote, and run nothing");
  const cli::Option& figure =
      command->add_other("--figure", "times", "what --export FILE.svg draws: times or roofline");
  command->add_figure("time against n_q or W, or a roofline");
  command->on_run([=, self = command.get(), &kernel, &BM, &BN, &rounds, &threads, &max_seconds,
                   &regimes, &launches, &plan, &arch, &baseline, &max_regression, &from, &figure] {
    if (from.given()) {
      self->refuse_beside(from, "runs nothing", {&figure});
      if (!self->wants_figure()) {
        throw UsageError("--from draws records, and no figure is asked for",
                         "add --export FILE.svg");
      }
      return redraw(from.text, parse_figure(figure, true));
    }
    if (cases->list().given()) {
      self->refuse_beside(cases->list(), "runs nothing", say_which);
      return list_cases(cases->read(), "swa.bench.cases/1");
    }
    if (plan.given()) {
      std::vector<const cli::Option*> allowed = say_which;
      allowed.insert(allowed.end(), {&kernel, &arch});
      self->refuse_beside(plan, "runs nothing", allowed);
      return plan_launches(cases->read(), kernel, gpu_model(arch));
    }
    if (arch.given()) {
      throw UsageError(fmt::format("--arch {} is the GPU of a plan, and none is asked for",
                                   gpu_model(arch).arch),
                       "add --plan, or leave --arch out");
    }
    const double regression = parse_percent(max_regression.name, max_regression.text);
    if (max_regression.given() && !baseline.given()) {
      throw UsageError(fmt::format("{} {} is of a baseline, and there is none", max_regression.name,
                                   max_regression.text),
                       "add --baseline FILE");
    }
    Options options;
    options.cases = cases->read();
    require_contiguous(options.cases);
    options.figure = parse_figure(figure, self->wants_figure());
    options.cpu.tile = {cli::parse_count(BM.name, BM.text), cli::parse_count(BN.name, BN.text)};
    choose_kernels(kernel, !cases->is_stated(), options);
    options.cpu.rounds = cli::parse_count(rounds.name, rounds.text, {1, 1'000'000});
    options.cpu.threads = threads.given()
                              ? cli::parse_counts(threads.name, threads.text, {1, kMostThreads})
                              : std::vector<Index>{thread_count()};
    options.cpu.max_seconds = options.gpu.max_seconds = parse_seconds(max_seconds);
    if (rounds.given()) options.gpu.rounds = options.cpu.rounds;
    options.gpu.regimes = parse_regimes(regimes);
    for (const cli::Option* option : {&regimes, &launches}) {
      if (!option->given() || !options.gpu.kernels.empty()) continue;
      throw UsageError(fmt::format("{} is for GPU kernels, and none is timed", option->name),
                       fmt::format("leave {} out, or name one with --kernel", option->name));
    }
    if (launches.given()) options.gpu.replay = GpuTimer::Replay::launch;
    if (baseline.given()) {
      options.baseline = {report::read_records(baseline.text), regression};
    }
    options.cpu.cases = options.gpu.cases = options.cases;
    return run(options);
  });
  return command;
}

}  // namespace swa::commands
