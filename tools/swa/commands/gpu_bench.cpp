#include "commands/gpu_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <thread>

#include "commands/gpu_record.hpp"
#include "commands/problem_record.hpp"
#include "commands/timing.hpp"
#include "error.hpp"
#include "parallel.hpp"
#include "terminal/interrupt.hpp"
#include "terminal/progress.hpp"
#include "verify/kernel.hpp"

namespace swa::commands {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Index kWarmUps = 3;
constexpr std::chrono::milliseconds kRest{200};
constexpr double kSustainedSeconds = 0.5;
constexpr std::array<std::string_view, 3> kRegimes{"interleaved", "alone", "sustained"};

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// All that is timed for one problem.
class Contest {
 public:
  Contest(const GpuBench& bench, const Problem& p) : bench_(bench), timer_(p, bench.replay) {}

  // Throws what a launch throws. The check's verdict; only what passes is timed.
  SampleCheck add(const GpuWork& work) {
    const GpuTimer::Entry kernel = timer_.add_kernel(work.kernel);
    const SampleCheck check = timer_.check(kernel);
    if (!check.pass()) return check;
    kernels_.push_back({work, check, kernel, timer_.add_empty(work.grid),
                        timer_.add_read(work.grid), timer_.add_copy(work.grid)});
    return check;
  }
  bool is_empty() const { return kernels_.empty(); }

  void add_roofs(const Problem& p) {
    const double flops = visible_pairs_of(p) * flops_per_pair(p);
    read_ = timer_.add_read({});
    copy_ = timer_.add_copy({});
    for (const std::string& unit : mma_units(p.dtype)) {
      loops_.emplace_back(unit, timer_.add_mma(unit, flops));
    }
  }

  // What each kernel took in this regime; none where a signal or the time ended it too early.
  std::vector<GpuTiming> time(Regime regime) {
    seconds_.clear();
    cycles_.clear();
    switch (regime) {
      case Regime::interleaved:
        interleave();
        break;
      case Regime::alone:
        one_by_one([&](GpuTimer::Entry entry) { return after_rest(entry); });
        break;
      case Regime::sustained:
        one_by_one(
            [&](GpuTimer::Entry entry) { return timer_.time_sustained(entry, kSustainedSeconds); });
        break;
    }
    std::vector<GpuTiming> timings;
    for (const Entrant& entrant : kernels_) {
      if (seconds_[entrant.kernel].empty()) continue;
      timings.push_back(timing_of(entrant, regime));
    }
    return timings;
  }

 private:
  struct Entrant {
    GpuWork work;
    SampleCheck check;
    GpuTimer::Entry kernel, empty, read, copy;
  };

  std::vector<GpuTimer::Entry> entries() const {
    std::vector<GpuTimer::Entry> all;
    for (const Entrant& e : kernels_) all.insert(all.end(), {e.kernel, e.empty, e.read, e.copy});
    all.insert(all.end(), {read_, copy_});
    for (const auto& [unit, entry] : loops_) all.push_back(entry);
    return all;
  }

  // Each round begins with another entry, and every second one runs backwards, so that none has a
  // fixed predecessor.
  void interleave() {
    const auto begin = Clock::now();
    for (Index round = -kWarmUps; round < bench_.rounds; ++round) {
      if (stop_requested() || (round > 0 && seconds_since(begin) >= bench_.max_seconds)) return;
      std::vector<GpuTimer::Entry> order = entries();
      const auto shift = static_cast<std::size_t>(round + kWarmUps) % order.size();
      std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shift), order.end());
      if (round % 2 != 0) std::reverse(order.begin(), order.end());
      for (const GpuTimer::Entry entry : order) {
        const double seconds = timer_.time(entry);
        if (round >= 0) seconds_[entry].push_back(seconds);
      }
      for (const Entrant& entrant : kernels_) {
        const GpuCycles cycles = timer_.count_cycles(entrant.kernel);
        if (round >= 0) cycles_[entrant.kernel].push_back(cycles);
      }
    }
  }

  template <class Measure>
  void one_by_one(Measure measure) {
    for (const GpuTimer::Entry entry : entries()) {
      if (stop_requested()) return;
      seconds_[entry] = measure(entry);
    }
  }

  std::vector<double> after_rest(GpuTimer::Entry entry) {
    std::this_thread::sleep_for(kRest);
    std::vector<double> seconds;
    const auto begin = Clock::now();
    for (Index round = -kWarmUps; round < bench_.rounds; ++round) {
      if (round > 0 && seconds_since(begin) >= bench_.max_seconds) break;
      const double one = timer_.time(entry);
      if (round >= 0) seconds.push_back(one);
    }
    return seconds;
  }

  double median(GpuTimer::Entry entry) const {
    const auto found = seconds_.find(entry);
    if (found == seconds_.end()) return 0;
    std::vector<double> sorted = found->second;
    std::sort(sorted.begin(), sorted.end());
    return sorted.empty() ? 0 : quantile(sorted, 0.5);
  }

  GpuTiming timing_of(const Entrant& entrant, Regime regime) {
    GpuTiming timing;
    timing.work = entrant.work;
    timing.check = entrant.check;
    timing.regime = name(regime);
    timing.seconds = seconds_[entrant.kernel];
    std::sort(timing.seconds.begin(), timing.seconds.end());
    std::vector<double> cycles, hertz;
    for (const GpuCycles& one : cycles_[entrant.kernel]) {
      cycles.push_back(one.cycles);
      hertz.push_back(one.hertz);
    }
    std::sort(cycles.begin(), cycles.end());
    std::sort(hertz.begin(), hertz.end());
    if (!cycles.empty()) timing.cycles = {quantile(cycles, 0.5), quantile(hertz, 0.5)};
    timing.empty = median(entrant.empty);
    timing.bytes = timer_.roof_bytes();
    timing.read = median(entrant.read);
    timing.copy = median(entrant.copy);
    timing.best_read = median(read_);
    timing.best_copy = median(copy_);
    for (const auto& [unit, entry] : loops_) {
      const double seconds = median(entry);
      if (seconds > 0) timing.loops.emplace_back(unit, timer_.mma_flops(entry) / seconds);
    }
    return timing;
  }

  const GpuBench& bench_;
  GpuTimer timer_;
  std::vector<Entrant> kernels_;
  GpuTimer::Entry read_ = 0, copy_ = 0;
  std::vector<std::pair<std::string, GpuTimer::Entry>> loops_;
  std::map<GpuTimer::Entry, std::vector<double>> seconds_;
  std::map<GpuTimer::Entry, std::vector<GpuCycles>> cycles_;
};

// Kernels that support only some of the problems, by kernel and reason.
class LeftOut {
 public:
  void add(const std::string& kernel, const std::string& reason, const std::string& problem) {
    const auto same = [&](const Entry& e) { return e.kernel == kernel && e.reason == reason; };
    auto entry = std::find_if(entries_.begin(), entries_.end(), same);
    if (entry == entries_.end()) entry = entries_.insert(entry, {kernel, reason, problem, 0});
    ++entry->problems;
  }
  report::Lines lines() const {
    report::Lines lines;
    for (const Entry& e : entries_) {
      const std::string others =
          e.problems > 1 ? fmt::format(" and {} more", e.problems - 1) : std::string();
      lines.lines.push_back(
          fmt::format("{} left out of '{}'{}: {}", e.kernel, e.problem, others, e.reason));
    }
    return lines;
  }

 private:
  struct Entry {
    std::string kernel, reason, problem;  // the first one
    Index problems = 0;
  };
  std::vector<Entry> entries_;
};

void require_normal(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    const auto refuse = [](const std::string& option) {
      throw UsageError(option + " is for CPU kernels",
                       "bench draws normal numbers on the GPU: leave it out");
    };
    if (c.problem.inputs != Recipe::normal) {
      refuse(fmt::format("--inputs {}", name(c.problem.inputs)));
    }
    if (c.problem.stream) refuse(fmt::format("--stream {}", name(*c.problem.stream)));
  }
}

}  // namespace

std::string_view name(Regime regime) {
  return kRegimes[static_cast<std::size_t>(regime)];
}

std::optional<Regime> parse_regime(std::string_view word) {
  for (std::size_t i = 0; i < kRegimes.size(); ++i) {
    if (kRegimes[i] == word) return static_cast<Regime>(i);
  }
  return std::nullopt;
}

std::vector<std::string> regime_words() {
  return {kRegimes.begin(), kRegimes.end()};
}

GpuBenchResult time_on_gpu(const GpuBench& bench) {
  require_normal(bench.cases);
  std::vector<Problem> problems;
  for (const Case& c : bench.cases) problems.push_back(c.problem);
  const ProblemColumns columns(problems);
  terminal::Progress progress("bench", problems.size());
  GpuBenchResult result;
  LeftOut left_out;
  for (std::size_t i = 0; i < bench.cases.size() && !stop_requested(); ++i) {
    const Case& one = bench.cases[i];
    const std::string words = one.name.empty() ? swa::options(one.problem) : one.name;
    progress.update(i, words);
    Contest contest(bench, one.problem);
    for (const GpuWork& work : gpu_work(one.problem)) {
      const auto chosen = std::find(bench.kernels.begin(), bench.kernels.end(), work.kernel);
      if (chosen == bench.kernels.end()) continue;
      if (work.unsupported) {
        left_out.add(work.kernel, *work.unsupported, words);
        continue;
      }
      const SampleCheck check = contest.add(work);
      if (check.pass()) continue;
      result.wrong.lines.push_back(fmt::format("{} is wrong on '{}' and was not timed: {}",
                                               work.kernel, words, check.reason()));
    }
    if (contest.is_empty()) continue;
    contest.add_roofs(one.problem);
    for (const Regime regime : bench.regimes) {
      for (const GpuTiming& timing : contest.time(regime)) {
        append(result.table, gpu_record(bench, one, columns, timing));
        for (const std::string& line : broken_roofs(one.problem, timing)) {
          result.broken_roofs.lines.push_back(
              fmt::format("{} on '{}', {}: {}", timing.work.kernel, words, timing.regime, line));
        }
      }
    }
  }
  result.unsupported = left_out.lines();
  return result;
}

}  // namespace swa::commands
