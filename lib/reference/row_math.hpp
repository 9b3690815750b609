// What the references do to a row of scores, written so that compilers turn it into vector
// instructions of any width with the same bits. Private to this room, but for its test.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "mask/window.hpp"

namespace swa {

constexpr double inverse_factorial(std::size_t n) {
  double factorial = 1;
  for (std::size_t i = 2; i <= n; ++i) factorial *= static_cast<double>(i);
  return 1 / factorial;
}

// The series of exp(r) by Horner's rule, as many terms as the sequence has and one more.
template <std::size_t... i>
float exp_series(float r, std::index_sequence<i...>) {
  constexpr std::size_t kDegree = sizeof...(i);
  float sum = static_cast<float>(inverse_factorial(kDegree));
  ((sum = sum * r + static_cast<float>(inverse_factorial(kDegree - 1 - i))), ...);
  return sum;
}

// Within 1.5 units in the last place. fast_exp(0) = 1, fast_exp(-inf) = 0 and fast_exp(inf) = inf,
// all exactly; NaN stays NaN.
//
// x = n ln 2 + r with |r| <= ln(2) / 2, where the series is cut off at 6e-9. 2^n comes in two
// factors, so that results below the smallest normal number are rounded once and not lost.
inline float fast_exp(float x) {
  constexpr float kRange = 128;  // beyond it every result is 0 or infinite
  constexpr float kLog2E = 1.44269504F;
  constexpr float kLn2High = 0x1.63p-1F, kLn2Low = -0x1.bd0106p-13F;  // n * high is exact
  constexpr float kRounder = 0x1.8p23F;  // a sum with it has the nearest integer in its low bits
  constexpr std::uint32_t kBias = 127, kMantissa = 23;
  x = x < -kRange ? -kRange : x;  // in this form NaN stays
  x = x > kRange ? kRange : x;
  const float rounded = x * kLog2E + kRounder;
  const float n = rounded - kRounder;
  const float r = (x - n * kLn2High) - n * kLn2Low;
  const float power = exp_series(r, std::make_index_sequence<7>());
  const auto biased =
      std::bit_cast<std::uint32_t>(rounded) - std::bit_cast<std::uint32_t>(kRounder) + 2 * kBias;
  const std::uint32_t half = biased / 2, rest = biased - half;
  return power * std::bit_cast<float>(half << kMantissa) * std::bit_cast<float>(rest << kMantissa);
}

// row[i] = exp(row[i] - shift). In double the C library's exp is as fast as vectors of two.
inline void exp_shifted(float* row, Index count, float shift) {
  for (Index i = 0; i < count; ++i) row[i] = fast_exp(row[i] - shift);
}
inline void exp_shifted(double* row, Index count, double shift) {
  for (Index i = 0; i < count; ++i) row[i] = std::exp(row[i] - shift);
}

// Eight sums side by side, then their sum: an order that depends on the count alone.
template <class Real>
Real sum_of(const Real* row, Index count) {
  constexpr Index kLanes = 8;
  std::array<Real, kLanes> lanes{};
  const auto add = [&](Index begin, Index size) {
    for (Index lane = 0; lane < size; ++lane) {
      lanes[static_cast<std::size_t>(lane)] += row[begin + lane];
    }
  };
  const Index whole = count - count % kLanes;
  for (Index i = 0; i < whole; i += kLanes) add(i, kLanes);
  add(whole, count - whole);
  Real sum = 0;
  for (const Real lane : lanes) sum += lane;
  return sum;
}

// Scores become weights relative to the highest, in place: exp(score - highest), and 0 where
// `hidden` is not. Returns their sum.
inline double weigh(const double* hidden, Index count, double highest, double* row) {
  for (Index c = 0; c < count; ++c) row[c] = hidden[c] < 0 ? 0 : std::exp(row[c] - highest);
  return sum_of(row, count);
}

// The largest of the numbers whose `hidden` is 0, and of `least`; eight of them side by side.
inline double largest_visible(const double* numbers, const double* hidden, Index count,
                              double least) {
  constexpr Index kLanes = 8;
  std::array<double, kLanes> lanes;
  lanes.fill(least);
  const auto take = [&](Index begin, Index size) {
    for (Index lane = 0; lane < size; ++lane) {
      double& highest = lanes[static_cast<std::size_t>(lane)];
      const double number = hidden[begin + lane] < 0 ? least : numbers[begin + lane];
      highest = highest < number ? number : highest;
    }
  };
  const Index whole = count - count % kLanes;
  for (Index i = 0; i < whole; i += kLanes) take(i, kLanes);
  take(whole, count - whole);
  return *std::max_element(lanes.begin(), lanes.end());
}

}  // namespace swa
