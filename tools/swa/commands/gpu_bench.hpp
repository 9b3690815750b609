// The rounds of bench on a GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/timer.hpp"
#include "problem/cases.hpp"
#include "report/report.hpp"

namespace swa::commands {

// The clock of a GPU depends on what it did before.
enum class Regime : std::uint8_t {
  interleaved,  // all kernels and roofs take turns, round by round, each after an L2 flush
  alone,        // one after the other, each after a rest, an L2 flush before each replay
  sustained,    // one after the other, replays back to back, nothing flushed
};
std::string_view name(Regime regime);
std::optional<Regime> parse_regime(std::string_view word);
std::vector<std::string> regime_words();

struct GpuBench {
  std::vector<Case> cases;
  std::vector<std::string> kernels;
  Index rounds = 30;
  double max_seconds = 10;  // no further round of a problem begins after that
  std::vector<Regime> regimes = {Regime::interleaved};
  GpuTimer::Replay replay = GpuTimer::Replay::graph;
};

// A record for each problem, regime and kernel that supports it. A kernel that check_samples()
// finds wrong on a problem is not timed. Ends early after a signal.
struct GpuBenchResult {
  report::Table table;
  report::Lines unsupported;   // a line for each kernel and reason for which it left problems out
  report::Lines wrong;         // one for each kernel that failed on a problem
  report::Lines broken_roofs;  // one for each share of a roof above 1: it is no roof
};
GpuBenchResult time_on_gpu(const GpuBench& bench);

}  // namespace swa::commands
