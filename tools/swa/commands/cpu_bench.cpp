#include "commands/cpu_bench.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "commands/case_memory.hpp"
#include "commands/problem_record.hpp"
#include "commands/timing.hpp"
#include "parallel.hpp"
#include "terminal/interrupt.hpp"
#include "terminal/progress.hpp"

namespace swa::commands {
namespace {

std::string repro_line(const CpuBench& bench, const Problem& problem, const std::string& kernel,
                       Index threads) {
  const CpuBench usual;
  std::string line =
      fmt::format("swa bench {} --kernel {} --threads {}", swa::options(problem), kernel, threads);
  if (bench.rounds != usual.rounds) line += fmt::format(" --rounds {}", bench.rounds);
  if (bench.max_seconds != usual.max_seconds) {
    line += fmt::format(" --max-seconds {}", bench.max_seconds);
  }
  if (bench.tile.BM != usual.tile.BM) line += fmt::format(" --BM {}", bench.tile.BM);
  if (bench.tile.BN != usual.tile.BN) line += fmt::format(" --BN {}", bench.tile.BN);
  return line;
}

report::Record record_of(const CpuBench& bench, const TimedKernel& kernel, const Case& one,
                         const ProblemColumns& columns, Index threads, const Timing& timing) {
  const Problem& p = one.problem;
  const double seconds = quantile(timing.seconds, 0.5);
  const double useful = kernel.useful_flops(p), issued = kernel.issued_flops(p);
  const GemmShape& shape = timing.roof_shape;
  report::Record record;
  add_case(record, one);
  record.add({"kernel", "kernel"}, kernel.name);
  add_mask(record, p, columns);
  add_rest(record, p, columns);
  record.hide("BM", bench.tile.BM)
      .hide("BN", bench.tile.BN)
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
      .hide("repro", repro_line(bench, p, kernel.name, threads));
  return record;
}

}  // namespace

report::Table time_on_cpu(const CpuBench& bench) {
  set_thread_count(*std::max_element(bench.threads.begin(), bench.threads.end()));
  for (const Case& c : bench.cases) require_memory_of(c.problem, bench.tile);
  std::vector<Problem> problems;
  for (const Case& c : bench.cases) problems.push_back(c.problem);
  const ProblemColumns columns(problems);
  terminal::Progress progress("bench",
                              problems.size() * bench.threads.size() * bench.kernels.size());
  std::size_t done = 0;
  report::Table table;
  for (const Case& one : bench.cases) {
    const Problem& p = one.problem;
    const Inputs inputs = make_inputs(p);
    for (const Index threads : bench.threads) {
      set_thread_count(threads);
      for (const TimedKernel& kernel : bench.kernels) {
        progress.update(done++, kernel.name + " " + swa::options(p));
        const Timing timing = time_rounds(kernel, p, inputs, bench.rounds, bench.max_seconds);
        if (!timing.seconds.empty()) {
          append(table, record_of(bench, kernel, one, columns, threads, timing));
        }
        if (stop_requested()) return table;
      }
    }
  }
  return table;
}

}  // namespace swa::commands
