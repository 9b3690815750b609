#include "verify/comparison.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace swa {
namespace {

// bound_of(row, i) is the bound of element i of a row.
template <class BoundOf>
Comparison compare(const Tensor<double>& expected, const Tensor<double>& got, BoundOf bound_of) {
  if (!(expected.shape == got.shape) || got.data.size() != expected.data.size()) {
    throw std::logic_error("compared tensors differ in shape");
  }
  const Shape shape = expected.shape;
  Comparison result;
  result.elements = shape.size();
  // Worse is: not finite, then out of bound, then the larger error.
  const auto rank = [](bool nonfinite, bool mismatch) { return nonfinite ? 2 : mismatch ? 1 : 0; };
  int worst_rank = -1;
  for (Index i = 0; i < result.elements; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double e = expected.data[at], g = got.data[at];
    const double bound = bound_of(i / shape.dim, i);
    // inf - inf is NaN, so equal infinities are settled first.
    const double error = e == g ? 0 : std::abs(g - e);
    const bool nonfinite = e != g && !std::isfinite(g);
    const bool mismatch = nonfinite || !(error <= bound);
    const std::array<Index, 4> index{i / shape.dim / shape.tokens / shape.heads,
                                     i / shape.dim / shape.tokens % shape.heads,
                                     i / shape.dim % shape.tokens, i % shape.dim};
    result.nonfinite += nonfinite;
    result.mismatches += mismatch;
    if (mismatch && !result.first_mismatch) result.first_mismatch = index;
    if (bound > result.largest_bound) result.largest_bound = bound;
    const int worse = rank(nonfinite, mismatch);
    if (worse > worst_rank || (worse == worst_rank && error > result.error)) {
      worst_rank = worse;
      result.worst = index;
      result.expected = e;
      result.got = g;
      result.error = nonfinite ? std::numeric_limits<double>::quiet_NaN() : error;
      result.bound = bound;
    }
  }
  return result;
}

}  // namespace

Comparison compare_output(const Problem& problem, const Oracle& oracle, const Tensor<double>& out) {
  const Tolerance tolerance(problem);
  Comparison found = compare(oracle.out, out, [&](Index row, Index i) {
    const auto r = static_cast<std::size_t>(row), at = static_cast<std::size_t>(i);
    return tolerance.of_output(oracle.magnitude.data[r], oracle.spread.data[at],
                               oracle.out.data[at]);
  });
  for (const double magnitude : oracle.magnitude.data) {
    if (tolerance.is_vacuous(magnitude)) found.vacuous += problem.head_dim;
  }
  return found;
}

Comparison compare_lse(const Problem& problem, const Oracle& oracle, const Tensor<double>& lse) {
  const Tolerance tolerance(problem);
  return compare(oracle.lse, lse, [&](Index row, Index) {
    const auto r = static_cast<std::size_t>(row);
    // A row that sees nothing has one right answer, so no slack.
    return std::isfinite(oracle.lse.data[r])
               ? tolerance.of_lse(oracle.magnitude.data[r], oracle.lse.data[r])
               : 0;
  });
}

}  // namespace swa
