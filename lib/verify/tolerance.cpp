#include "verify/tolerance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace swa {
namespace {

// Roundings of one score besides those of its dot product, each of at most M: scale 2, softcap 6,
// the maximum subtracted and log2(e) folded in 6, the rescaling's arguments 4 (they telescope), and
// 2 to spare.
constexpr double kScoreSteps = 20;
// 4 u for each exponential (2^-22 in fp32, what ex2.approx is specified to): the weight's own, and
// one for each time the running maximum rises, 32 times at the most.
constexpr double kExponentials = 4 * 33;

bool is_16_bit(Dtype dtype) {
  return dtype == Dtype::bf16 || dtype == Dtype::fp16;
}

// The most keys that any row sees; the last row sees as many as any, unless the right bound
// of an earlier one is nearer to its left bound, so take the band's full width.
double most_keys(const Problem& p) {
  const Side left = p.window.reach_left(), right = p.window.reach_right();
  if (!left.bounded || !right.bounded) return static_cast<double>(p.n_k);
  return static_cast<double>(smaller(p.n_k, left.reach + right.reach + 1 + p.sinks));
}

std::string power_of_two(double x) {
  return fmt::format("2^{}", std::ilogb(x));
}

}  // namespace

Tolerance::Tolerance(const Problem& p)
    : work_(p.dtype == Dtype::fp64 ? 2 * unit_roundoff(Dtype::fp64) : unit_roundoff(Dtype::fp32)),
      weights_(is_16_bit(p.dtype) ? unit_roundoff(p.dtype) : 0),
      store_(unit_roundoff(p.dtype)),
      smallest_step_(smallest_normal(p.dtype) * unit_roundoff(p.dtype)),
      depth_(std::min(most_keys(p), 256.0) + std::floor(most_keys(p) / 16) + 1),
      head_dim_(static_cast<double>(p.head_dim)) {}

double Tolerance::score_error(double magnitude) const {
  return ((head_dim_ + kScoreSteps) * magnitude + kExponentials) * work_;
}

double Tolerance::relative(double magnitude) const {
  return 2 * (score_error(magnitude) + depth_ * work_) + weights_;
}

double Tolerance::of_output(double magnitude, double spread, double output) const {
  return relative(magnitude) * spread + store_ * std::abs(output) + smallest_step_;
}

double Tolerance::of_lse(double magnitude, double lse) const {
  return score_error(magnitude) + depth_ * work_ + work_ * std::abs(lse);
}

std::string Tolerance::formula() const {
  const std::string u = power_of_two(work_);
  return fmt::format("|error| <= (2 (e + {:g} * {}) + {}) A + {} |o|, e = ({:g} M + {:g}) * {}",
                     depth_, u, weights_ == 0 ? std::string("0") : power_of_two(weights_),
                     power_of_two(store_), head_dim_ + kScoreSteps, kExponentials, u);
}

}  // namespace swa
