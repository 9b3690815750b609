#include "verify/tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace swa {
namespace {

// Roundings of one score besides those of its dot product, each of at most M: scale 2, softcap 6,
// the maximum subtracted and log2(e) folded in 6, the rescaling's arguments 4 (they telescope), and
// 2 to spare.
constexpr double kScoreSteps = 20;
// 4 u for each exponential (2^-22 in fp32, what ex2.approx is specified to): the weight's own, and
// one for each time the running maximum rises, 32 times at the most.
constexpr double kExponentials = 4 * 33;

// Rescalings whose factor is not exactly 1: one for each time the running maximum rises.
constexpr double kRises = 32;

// What the weights lose as factors of the second product. To tf32 a GPU that is given fp32 cuts
// them off, which loses twice as much as rounding.
double narrowing(Dtype dtype) {
  switch (dtype) {
    case Dtype::tf32:
      return 2 * unit_roundoff(dtype);
    case Dtype::bf16:
    case Dtype::fp16:
      return unit_roundoff(dtype);
    default:
      return 0;
  }
}

// The rounding error of a number below the smallest normal one; in fp64 half of what a double can
// hold, so that.
double subnormal_step(Dtype dtype) {
  return std::max(smallest_normal(dtype) * unit_roundoff(dtype),
                  std::numeric_limits<double>::denorm_min());
}

std::string power_of_two(double x) {
  return fmt::format("2^{}", std::ilogb(x));
}

}  // namespace

Tolerance::Tolerance(const Problem& p, SumRuns runs)
    : runs_(runs),
      work_(p.dtype == Dtype::fp64 ? 2 * unit_roundoff(Dtype::fp64) : unit_roundoff(Dtype::fp32)),
      weights_(narrowing(p.dtype)),
      weights_step_(weights_ > 0 ? smallest_normal(p.dtype) * weights_ : 0),
      store_(unit_roundoff(stored_dtype(p.dtype))),
      store_step_(subnormal_step(stored_dtype(p.dtype))),
      head_dim_(static_cast<double>(p.head_dim)) {}

double Tolerance::sum_error(const RowFacts& row) const {
  const double score = ((head_dim_ + kScoreSteps) * row.score_bound + kExponentials) * work_;
  // A band that is not aligned to its runs touches one more than it fills.
  const Index runs = ceil_div(row.keys, runs_.shortest) + 1;
  const double steps = static_cast<double>(smaller(row.keys, runs_.longest) + runs) + kRises;
  return score + steps * work_;
}

double Tolerance::of_output(const RowFacts& row, double abs_output, double output) const {
  const double lost_weights =
      static_cast<double>(row.keys) * weights_step_ * row.largest_v / row.denominator;
  const double scale = store_ + (runs_.narrowed ? weights_ : 0);
  return (2 * sum_error(row) + weights_) * abs_output + lost_weights + scale * std::abs(output) +
         store_step_;
}

double Tolerance::of_lse(const RowFacts& row, double lse) const {
  return sum_error(row) + work_ * std::abs(lse);
}

std::string Tolerance::formula() const {
  const std::string u = power_of_two(work_);
  std::string weights, lost;
  if (weights_ > 0) {
    weights = " + " + power_of_two(weights_);
    lost = fmt::format(" + n {} V / l", power_of_two(weights_step_));
  }
  return fmt::format("|error| <= (2 ({:g} M + min(n, {}) + n/{} + {:g}) {}{}) A{} + {} |o| + {}",
                     head_dim_ + kScoreSteps, runs_.longest, runs_.shortest,
                     kExponentials + kRises + 2, u, weights, lost,
                     power_of_two(store_ + (runs_.narrowed ? weights_ : 0)),
                     power_of_two(store_step_));
}

}  // namespace swa
