#include "commands/gpu_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "commands/problem_record.hpp"
#include "commands/timing.hpp"
#include "error.hpp"
#include "kernels/timer.hpp"
#include "parallel.hpp"
#include "terminal/interrupt.hpp"
#include "terminal/progress.hpp"
#include "verify/kernel.hpp"

namespace swa::commands {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Index kWarmUps = 3;

struct Timed {
  GpuWork work;
  std::vector<double> seconds;
  Index nonfinite = 0;
};

void run_rounds(const GpuBench& bench, const Problem& p, std::vector<Timed>& kernels) {
  GpuTimer timer(p);
  const auto begin = Clock::now();
  for (Index round = -kWarmUps; round < bench.rounds; ++round) {
    const std::chrono::duration<double> elapsed = Clock::now() - begin;
    if (stop_requested() || (round > 0 && elapsed.count() >= bench.max_seconds)) return;
    for (Timed& kernel : kernels) {
      const double seconds = timer.time(kernel.work.kernel);
      if (round >= 0) kernel.seconds.push_back(seconds);
      if (round == 0) kernel.nonfinite = timer.nonfinite();
    }
  }
}

std::string repro_line(const GpuBench& bench, const Problem& p, const std::string& kernel) {
  const GpuBench usual;
  std::string line = fmt::format("swa bench {} --kernel {}", swa::options(p), kernel);
  if (bench.rounds != usual.rounds) line += fmt::format(" --rounds {}", bench.rounds);
  if (bench.max_seconds != usual.max_seconds) {
    line += fmt::format(" --max-seconds {}", bench.max_seconds);
  }
  return line;
}

report::Record record_of(const GpuBench& bench, const Problem& p, const ProblemColumns& columns,
                         Timed& kernel) {
  std::sort(kernel.seconds.begin(), kernel.seconds.end());
  const double median = quantile(kernel.seconds, 0.5);
  const double flops_per_pair = 2 * static_cast<double>(p.head_dim + p.value_dim());
  const double useful = visible_pairs_of(p) * flops_per_pair;
  const double issued = kernel.work.issued_pairs * flops_per_pair;
  report::Record record;
  record.add({"kernel", "kernel"}, kernel.work.kernel);
  add_mask(record, p, columns);
  add_rest(record, p, columns);
  record.add({"rounds", "rounds"}, static_cast<Index>(kernel.seconds.size()))
      .hide("seconds", median)
      .hide("seconds_min", kernel.seconds.front())
      .hide("seconds_iqr", quantile(kernel.seconds, 0.75) - quantile(kernel.seconds, 0.25))
      .add({"milliseconds", "median ms", ".4f"}, median * 1e3)
      .add({"milliseconds_min", "min ms", ".4f"}, kernel.seconds.front() * 1e3)
      .add({"milliseconds_iqr", "IQR ms", ".4f"},
           (quantile(kernel.seconds, 0.75) - quantile(kernel.seconds, 0.25)) * 1e3)
      .hide("useful_flops", useful)
      .hide("issued_flops", issued)
      .add({"useful_tflops_per_s", "useful TFLOP/s", ".1f"}, useful / median * 1e-12)
      .add({"issued_tflops_per_s", "issued TFLOP/s", ".1f"}, issued / median * 1e-12)
      .add({"useful_share", "useful / issued", ".3f"}, useful / issued)
      .hide("nonfinite", kernel.nonfinite)
      .hide("repro", repro_line(bench, p, kernel.work.kernel));
  return record;
}

}  // namespace

GpuBenchResult time_on_gpu(const GpuBench& bench) {
  std::vector<Problem> problems;
  for (const Case& c : bench.cases) {
    if (c.problem.inputs != Recipe::normal) {
      throw UsageError(fmt::format("--inputs {} is for CPU kernels", name(c.problem.inputs)),
                       "bench draws normal numbers on the GPU: leave it out");
    }
    if (c.problem.stream) {
      throw UsageError(fmt::format("--stream {} is for CPU kernels", name(*c.problem.stream)),
                       "bench draws normal numbers on the GPU: leave it out");
    }
    problems.push_back(c.problem);
  }
  const ProblemColumns columns(problems);
  terminal::Progress progress("bench", problems.size());
  GpuBenchResult result;
  for (std::size_t i = 0; i < problems.size() && !stop_requested(); ++i) {
    progress.update(i, swa::options(problems[i]));
    std::vector<Timed> kernels;
    for (GpuWork& work : gpu_work(problems[i])) {
      const auto chosen = std::find(bench.kernels.begin(), bench.kernels.end(), work.kernel);
      if (chosen == bench.kernels.end()) continue;
      if (!work.unsupported) {
        kernels.push_back({std::move(work), {}});
        continue;
      }
      result.unsupported.lines.push_back(fmt::format("{} left out of '{}': {}", work.kernel,
                                                     swa::options(problems[i]), *work.unsupported));
    }
    if (kernels.empty()) continue;
    run_rounds(bench, problems[i], kernels);
    for (Timed& kernel : kernels) {
      if (kernel.seconds.empty()) continue;
      append(result.table, record_of(bench, problems[i], columns, kernel));
      result.points.push_back(
          time_point(kernel.work.kernel, problems[i], quantile(kernel.seconds, 0.5)));
    }
  }
  return result;
}

}  // namespace swa::commands
