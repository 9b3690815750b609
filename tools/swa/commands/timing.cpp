#include "commands/timing.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <tuple>
#include <utility>

#include "parallel.hpp"

namespace swa::commands {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Index kRoofSquare = 384;     // large enough for the library to reach its speed
constexpr double kRoofSeconds = 0.05;  // of one measurement

double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return quantile(numbers, 0.5);
}

// The products of one type: those of a large square and of the kernel's own blocks.
template <class Real>
class Roof {
 public:
  explicit Roof(GemmShape block)
      : gemms_{GemmRoof<Real>({kRoofSquare, kRoofSquare, kRoofSquare}), GemmRoof<Real>(block)} {}

  void measure() {
    for (std::size_t i = 0; i < gemms_.size(); ++i) {
      rates_[i].push_back(gemms_[i].measure(kRoofSeconds));
    }
  }
  // The faster of the two, by their medians, in FLOP/s.
  std::pair<double, GemmShape> best() const {
    const double square = median(rates_[0]), block = median(rates_[1]);
    return square >= block ? std::pair(square, gemms_[0].shape())
                           : std::pair(block, gemms_[1].shape());
  }

 private:
  std::array<GemmRoof<Real>, 2> gemms_;
  std::array<std::vector<double>, 2> rates_;
};

// Padding is left out: it stays as it was poisoned.
Index count_nonfinite(const Problem& p, const Tensor<double>& out) {
  Index count = 0;
  for (const Sequence& s : sequences(p)) {
    for (Index h = 0; h < p.heads_q; ++h) {
      const double* const begin = out.row(s.batch, h, s.q_row);
      count += std::count_if(begin, begin + s.mask.n_q * out.shape.dim,
                             [](double x) { return !std::isfinite(x); });
    }
  }
  return count;
}

template <class Real>
Timing time_rounds_in(const TimedKernel& kernel, const Problem& p, const Inputs& inputs,
                      Index rounds, double max_seconds) {
  Timing timing;
  try {
    const auto begin = Clock::now();
    Roof<Real> roof(kernel.block(p));
    const auto elapsed = [](Clock::time_point since) {
      return std::chrono::duration<double>(Clock::now() - since).count();
    };
    for (Index round = 0; round < rounds; ++round) {
      if (round > 0 && elapsed(begin) >= max_seconds) break;
      Attention got = poisoned_outputs(p);
      const auto start = Clock::now();
      kernel.run(p, inputs, got);
      const double seconds = elapsed(start);
      roof.measure();
      timing.seconds.push_back(seconds);
      timing.nonfinite = count_nonfinite(p, got.out);
      std::tie(timing.roof, timing.roof_shape) = roof.best();
    }
  } catch (const Stopped&) {
  }
  std::sort(timing.seconds.begin(), timing.seconds.end());
  return timing;
}

}  // namespace

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const std::size_t below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Timing time_rounds(const TimedKernel& kernel, const Problem& problem, const Inputs& inputs,
                   Index rounds, double max_seconds) {
  return kernel.in_double(problem)
             ? time_rounds_in<double>(kernel, problem, inputs, rounds, max_seconds)
             : time_rounds_in<float>(kernel, problem, inputs, rounds, max_seconds);
}

figures::TimePoint time_point(const std::string& kernel, const Problem& p, double seconds) {
  const bool windowed = p.window.kind == Window::Kind::causal;
  return {kernel, p.n_q, windowed ? p.window.width : p.n_k, seconds * 1e3};
}

}  // namespace swa::commands
