#include "commands/gpu_record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "commands/timing.hpp"
#include "problem/traffic.hpp"
#include "verify/kernel.hpp"

namespace swa::commands {
namespace {

struct Shares {
  double memory = 0;        // least time that the bytes take / time
  double launch = 0;        // an empty launch / time
  double mma_roof = 0;      // FLOP/s of the kernel's own unit; 0: none known
  double mma = 0;           // useful FLOP/s / mma_roof
  std::string fastest;      // unit of this GPU
  double fastest_roof = 0;  // its FLOP/s
  double of_fastest = 0;
};

// The fastest of the four times, of as many bytes as the problem moves.
double memory_seconds(const Problem& p, const GpuTiming& t) {
  const double fastest = std::min({t.read, t.copy, t.best_read, t.best_copy});
  // Of more bytes than the buffers hold, the time that they take at the same rate.
  return fastest * std::max(1.0, least_traffic(p).total() / t.bytes);
}

Shares shares_of(const Problem& p, const GpuTiming& t) {
  const double seconds = quantile(t.seconds, 0.5);
  const double rate = visible_pairs_of(p) * flops_per_pair(p) / seconds;
  Shares shares;
  shares.memory = memory_seconds(p, t) / seconds;
  shares.launch = t.empty / seconds;
  for (const auto& [unit, roof] : t.loops) {
    if (unit == t.work.mma) {
      shares.mma_roof = roof;
      shares.mma = rate / roof;
    }
    if (roof > shares.fastest_roof) {
      shares.fastest = unit;
      shares.fastest_roof = roof;
      shares.of_fastest = rate / roof;
    }
  }
  return shares;
}

report::Value known(double number) {
  return number > 0 ? report::Value(number) : report::Value();
}

std::string repro_line(const GpuBench& bench, const Problem& p, const GpuTiming& timing) {
  const GpuBench usual;
  std::string line = fmt::format("swa bench {} --kernel {}", swa::options(p), timing.work.kernel);
  if (timing.regime != name(Regime::interleaved)) line += " --regime " + timing.regime;
  if (bench.replay == GpuTimer::Replay::launch) line += " --launches";
  if (bench.rounds != usual.rounds) line += fmt::format(" --rounds {}", bench.rounds);
  if (bench.max_seconds != usual.max_seconds) {
    line += fmt::format(" --max-seconds {}", bench.max_seconds);
  }
  return line;
}

}  // namespace

double flops_per_pair(const Problem& p) {
  return 2 * static_cast<double>(p.head_dim + p.value_dim());
}

report::Record gpu_record(const GpuBench& bench, const Case& one, const ProblemColumns& columns,
                          const GpuTiming& t) {
  const Problem& p = one.problem;
  const double median = quantile(t.seconds, 0.5);
  const double q1 = quantile(t.seconds, 0.25), q3 = quantile(t.seconds, 0.75);
  const double useful = visible_pairs_of(p) * flops_per_pair(p);
  const double issued = t.work.issued_pairs * flops_per_pair(p);
  const double bytes = least_traffic(p).total();
  const Shares shares = shares_of(p, t);
  const bool several = bench.regimes.size() > 1;
  report::Record record;
  add_case(record, one);
  record.add({"kernel", "kernel"}, t.work.kernel)
      .add({"regime", "regime", "", several ? report::Show::everywhere : report::Show::machine},
           t.regime);
  if (one.name.empty()) {
    add_mask(record, p, columns);
    add_rest(record, p, columns);
  } else {
    hide_problem(record, p);
  }
  record.hide("replay", std::string(bench.replay == GpuTimer::Replay::graph ? "graph" : "launch"))
      .add({"rounds", "rounds"}, static_cast<Index>(t.seconds.size()))
      .hide("seconds", median)
      .hide("seconds_min", t.seconds.front())
      .hide("seconds_q1", q1)
      .hide("seconds_q3", q3)
      .hide("seconds_iqr", q3 - q1)
      .add({"milliseconds", "median ms", ".4f"}, median * 1e3)
      .add({"milliseconds_iqr", "IQR ms", ".4f"}, (q3 - q1) * 1e3)
      .hide("milliseconds_min", t.seconds.front() * 1e3)
      .hide("cycles", known(t.cycles.cycles))
      .add({"clock_ghz", "GHz", ".2f"}, known(t.cycles.hertz * 1e-9))
      .hide("useful_flops", useful)
      .hide("issued_flops", issued)
      .add({"useful_tflops_per_s", "useful TFLOP/s", ".1f"}, useful / median * 1e-12)
      .add({"issued_tflops_per_s", "issued TFLOP/s", ".1f"}, issued / median * 1e-12)
      .hide("useful_share", issued > 0 ? report::Value(useful / issued) : report::Value())
      .hide("bytes", bytes)
      .add({"megabytes", "MB", ".1f"}, bytes * 1e-6)
      .add({"share_of_memory_roof", "of memory roof", ".3f"}, shares.memory)
      .hide("bytes_of_roofs", t.bytes)
      .hide("read_seconds", t.read)
      .hide("copy_seconds", t.copy)
      .hide("best_read_seconds", t.best_read)
      .hide("best_copy_seconds", t.best_copy)
      .add({"mma_unit", "unit"}, t.work.mma.empty() ? report::Value() : report::Value(t.work.mma))
      .add({"share_of_mma_roof", "of its MMA roof", ".3f"}, known(shares.mma))
      .hide("mma_roof_flops_per_s", known(shares.mma_roof))
      .hide("fastest_unit",
            shares.fastest.empty() ? report::Value() : report::Value(shares.fastest))
      .hide("fastest_roof_flops_per_s", known(shares.fastest_roof))
      .add({"share_of_fastest_roof", "of the GPU's", ".3f"}, known(shares.of_fastest))
      .add({"share_of_launch", "launch", ".3f"}, shares.launch)
      .hide("launch_seconds", t.empty)
      .hide("grid", t.work.grid.blocks > 0 ? report::Value(t.work.grid.blocks) : report::Value())
      .hide("threads",
            t.work.grid.threads > 0 ? report::Value(t.work.grid.threads) : report::Value())
      .hide("checked_rows", t.check.rows)
      .hide("error", t.check.output.error)
      .hide("bound", t.check.output.bound)
      .hide("repro", repro_line(bench, p, t));
  return record;
}

std::vector<std::string> broken_roofs(const Problem& p, const GpuTiming& timing) {
  const Shares shares = shares_of(p, timing);
  std::vector<std::string> sentences;
  const auto look = [&](double share, const std::string& roof) {
    if (share <= 1) return;
    sentences.push_back(fmt::format("{:.3f} of {}, which is no roof then", share, roof));
  };
  look(shares.memory, "the memory roof");
  look(shares.mma, "the roof of " + timing.work.mma);
  look(shares.of_fastest, "the roof of " + shares.fastest);
  look(shares.launch, "an empty launch");
  return sentences;
}

}  // namespace swa::commands
