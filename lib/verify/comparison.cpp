#include "verify/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace swa {
namespace {

// bound_of(row, i) is the bound of element i of a row.
template <class BoundOf>
Comparison compare(const Tensor<double>& expected, const Tensor<double>& got,
                   const std::vector<RowFacts>& rows, BoundOf bound_of) {
  if (!(expected.shape == got.shape) || got.data.size() != expected.data.size()) {
    throw std::logic_error("compared tensors differ in shape");
  }
  const Shape shape = expected.shape;
  Comparison result;
  // Worse is: not finite, then out of bound, then the larger error.
  const auto rank = [](bool nonfinite, bool mismatch) { return nonfinite ? 2 : mismatch ? 1 : 0; };
  const auto index_of = [&](Index i) {
    return std::array<Index, 4>{i / shape.dim / shape.tokens / shape.heads,
                                i / shape.dim / shape.tokens % shape.heads,
                                i / shape.dim % shape.tokens, i % shape.dim};
  };
  int worst_rank = -1;
  for (Index i = 0; i < shape.size(); ++i) {
    if (rows[static_cast<std::size_t>(i / shape.dim)].padding) continue;
    ++result.elements;
    const auto at = static_cast<std::size_t>(i);
    const double e = expected.data[at], g = got.data[at];
    const double bound = bound_of(i / shape.dim, i);
    // inf - inf is NaN, so equal infinities are settled first.
    const double error = e == g ? 0 : std::abs(g - e);
    const bool nonfinite = e != g && !std::isfinite(g);
    const bool mismatch = nonfinite || !(error <= bound);
    result.nonfinite += nonfinite;
    result.mismatches += mismatch;
    if (mismatch && !result.first_mismatch) result.first_mismatch = index_of(i);
    if (bound > result.largest_bound) result.largest_bound = bound;
    const int worse = rank(nonfinite, mismatch);
    if (worse > worst_rank || (worse == worst_rank && error > result.error)) {
      worst_rank = worse;
      result.worst = index_of(i);
      result.expected = e;
      result.got = g;
      result.error = nonfinite ? std::numeric_limits<double>::quiet_NaN() : error;
      result.bound = bound;
    }
  }
  return result;
}

}  // namespace

Comparison compare_output(const Oracle& oracle, const Tolerance& tolerance,
                          const Tensor<double>& out) {
  Index vacuous = 0;
  Comparison found = compare(oracle.out, out, oracle.rows, [&](Index row, Index i) {
    const RowFacts& facts = oracle.rows[static_cast<std::size_t>(row)];
    const auto at = static_cast<std::size_t>(i);
    const double expected = oracle.out.data[at];
    const double bound = tolerance.of_output(facts, oracle.abs_output.data[at], expected);
    vacuous += facts.keys > 0 && std::abs(expected) <= bound;
    return bound;
  });
  found.vacuous = vacuous;
  return found;
}

Comparison compare_lse(const Oracle& oracle, const Tolerance& tolerance,
                       const Tensor<double>& lse) {
  return compare(oracle.lse, lse, oracle.rows, [&](Index row, Index) {
    const auto r = static_cast<std::size_t>(row);
    const double expected = oracle.lse.data[r];
    // A row that sees nothing has one right answer, so no slack.
    return std::isfinite(expected) ? tolerance.of_lse(oracle.rows[r], expected) : 0;
  });
}

RowComparison compare_row(const Oracle& oracle, const Tolerance& tolerance, Index row,
                          const double* got) {
  const Index head_dim = oracle.out.shape.dim;
  const double* expected = oracle.out.row(0, 0, row);
  RowComparison found;
  found.error = largest_difference(got, expected, head_dim);
  for (Index d = 0; d < head_dim; ++d) {
    const double bound = tolerance.of_output(oracle.row_facts(0, 0, row),
                                             oracle.abs_output.row(0, 0, row)[d], expected[d]);
    found.bound = std::max(found.bound, bound);
    found.right = found.right && std::abs(got[d] - expected[d]) <= bound;
  }
  return found;
}

bool same_bits(const double* a, const double* b, Index count) {
  return count == 0 || std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(double)) == 0;
}

bool same_bits(const Tensor<double>& a, const Tensor<double>& b) {
  return a.data.size() == b.data.size() &&
         same_bits(a.data.data(), b.data.data(), static_cast<Index>(a.data.size()));
}

double largest_difference(const double* a, const double* b, Index count) {
  double largest = 0;
  for (Index i = 0; i < count; ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;
    if (std::isnan(largest)) return largest;
  }
  return largest;
}

}  // namespace swa
