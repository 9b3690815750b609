// The references' own arithmetic on rows, against long double.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "reference/row_math.hpp"

using namespace swa;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// In units of the last place of a float near `exact`, subnormal ones included.
double ulps(float got, long double exact) {
  const int exponent = std::max(std::ilogb(exact), -126);
  return static_cast<double>(std::fabs(static_cast<long double>(got) - exact) /
                             std::ldexp(1.0L, exponent - 23));
}

}  // namespace

TEST_CASE("fast_exp is within 1.5 units in the last place over its whole range") {
  double worst = 0;
  for (float x = -104; x < 88.7F; x += 0.000171F * (1 + std::fabs(x) / 8)) {
    worst = std::max(worst, ulps(fast_exp(x), std::exp(static_cast<long double>(x))));
  }
  for (float x = 1; x > 1e-30F; x /= 1.0007F) {
    worst = std::max(worst, ulps(fast_exp(x), std::exp(static_cast<long double>(x))));
    worst = std::max(worst, ulps(fast_exp(-x), std::exp(-static_cast<long double>(x))));
  }
  CHECK(worst < 1.5);
  CHECK(worst > 0.5);  // the sweep has met a rounding
}

TEST_CASE("fast_exp is exact where attention relies on it") {
  CHECK(fast_exp(0.0F) == 1);
  CHECK(fast_exp(-0.0F) == 1);
  for (const float x : {-kInfinity, -1e30F, -1000.0F, -129.0F, -128.0F, -105.0F}) {
    CAPTURE(x);
    CHECK(fast_exp(x) == 0);
    CHECK_FALSE(std::signbit(fast_exp(x)));
  }
  for (const float x : {kInfinity, 1e30F, 1000.0F, 128.0F, 89.0F}) CHECK(fast_exp(x) == kInfinity);
  CHECK(std::isnan(fast_exp(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("a row has the same weights whatever its length") {
  for (Index count = 0; count < 40; ++count) {
    std::vector<float> row;
    for (Index i = 0; i < count; ++i) row.push_back(0.37F * static_cast<float>(i) - 9);
    if (count > 2) row[1] = -kInfinity;
    std::vector<float> weights = row;
    exp_shifted(weights.data(), count, 1.25F);
    for (std::size_t i = 0; i < row.size(); ++i) CHECK(weights[i] == fast_exp(row[i] - 1.25F));
  }
  // A shift of -inf under a score of -inf: the trap that the guard is for.
  std::vector<float> lost(9, -kInfinity);
  exp_shifted(lost.data(), 9, -kInfinity);
  for (const float weight : lost) CHECK(std::isnan(weight));
}

TEST_CASE("sums and largest numbers of rows of every length") {
  for (Index count = 0; count < 40; ++count) {
    std::vector<double> row, hidden;
    double sum = 0, most = 2.5;
    for (Index i = 0; i < count; ++i) {
      row.push_back(static_cast<double>((i * 7) % 11));
      hidden.push_back(i % 3 == 0 ? -std::numeric_limits<double>::infinity() : 0);
      sum += row.back();
      if (hidden.back() == 0) most = std::max(most, row.back());
    }
    CHECK(sum_of(row.data(), count) == sum);
    CHECK(largest_visible(row.data(), hidden.data(), count, 2.5) == most);
  }
}
