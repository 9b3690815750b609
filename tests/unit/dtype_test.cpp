#include "tensor/dtype.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace swa {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Encoding {
  Dtype dtype;
  int exponent_bits;
  int fraction_bits;
  std::uint32_t largest;  // the bit pattern of the largest finite number
};

constexpr Encoding kSmallTypes[] = {
    {Dtype::bf16, 8, 7, 0x7f7f},
    {Dtype::fp16, 5, 10, 0x7bff},
    {Dtype::fp8_e4m3, 4, 3, 0x7e},
    {Dtype::fp8_e5m2, 5, 2, 0x7b},
};

double decode(const Encoding& encoding, std::uint32_t pattern) {
  int bias = (1 << (encoding.exponent_bits - 1)) - 1;
  int exponent = static_cast<int>(pattern >> encoding.fraction_bits);
  std::uint32_t leading = 1U << encoding.fraction_bits;
  std::uint32_t fraction = pattern & (leading - 1);
  if (exponent == 0) return std::ldexp(fraction, 1 - bias - encoding.fraction_bits);
  return std::ldexp(leading + fraction, exponent - bias - encoding.fraction_bits);
}

// Every finite number that is not negative, ascending; the index is the bit pattern.
std::vector<double> numbers(const Encoding& encoding) {
  std::vector<double> numbers;
  for (std::uint32_t pattern = 0; pattern <= encoding.largest; ++pattern) {
    numbers.push_back(decode(encoding, pattern));
  }
  return numbers;
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// Of both signs; the sign of a zero counts.
bool rounds_to(Dtype dtype, double x, double expected) {
  return same_bits(round_to(dtype, x), expected) && same_bits(round_to(dtype, -x), -expected);
}

// A linear congruential generator, whose high bits will do for bit patterns.
std::uint64_t next_pattern(std::uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return state ^ (state >> 32);
}

TEST_CASE("every number of the small types stays as it is") {
  for (const Encoding& encoding : kSmallTypes) {
    CAPTURE(name(encoding.dtype));
    std::size_t wrong = 0;
    for (double number : numbers(encoding)) wrong += !rounds_to(encoding.dtype, number, number);
    CHECK(wrong == 0);
  }
}

TEST_CASE(
    "between every two neighbours of the small types the nearer wins, the even one on a tie") {
  for (const Encoding& encoding : kSmallTypes) {
    CAPTURE(name(encoding.dtype));
    std::vector<double> all = numbers(encoding);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      double below = all[i];
      double above = all[i + 1];
      double middle = below + (above - below) / 2;
      wrong += !rounds_to(encoding.dtype, std::nextafter(below, above), below);
      wrong += !rounds_to(encoding.dtype, std::nextafter(middle, below), below);
      wrong += !rounds_to(encoding.dtype, middle, i % 2 == 0 ? below : above);
      wrong += !rounds_to(encoding.dtype, std::nextafter(middle, above), above);
      wrong += !rounds_to(encoding.dtype, std::nextafter(above, below), above);
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("beyond the largest number") {
  auto check = [](Dtype dtype, double tie, double at_tie, double beyond) {
    CAPTURE(name(dtype));
    CHECK(rounds_to(dtype, std::nextafter(tie, 0.0), largest_finite(dtype)));
    CHECK(rounds_to(dtype, tie, at_tie));
    for (double x : {std::nextafter(tie, kInfinity), 2 * tie, 1e300, kInfinity}) {
      CAPTURE(x);
      if (std::isnan(beyond)) {
        CHECK(std::isnan(round_to(dtype, x)));
        CHECK(std::isnan(round_to(dtype, -x)));
      } else {
        CHECK(rounds_to(dtype, x, beyond));
      }
    }
  };
  check(Dtype::fp32, 0x1.ffffffp127, kInfinity, kInfinity);
  check(Dtype::bf16, 0x1.ffp127, kInfinity, kInfinity);
  check(Dtype::fp16, 65520.0, kInfinity, kInfinity);
  check(Dtype::fp8_e5m2, 61440.0, kInfinity, kInfinity);
  // 448 is even, and what would follow it, 480, is the pattern of NaN.
  check(Dtype::fp8_e4m3, 464.0, 448.0, kNan);
}

TEST_CASE("the smallest numbers") {
  auto check = [](Dtype dtype, double smallest_subnormal) {
    CAPTURE(name(dtype));
    CHECK(rounds_to(dtype, smallest_subnormal, smallest_subnormal));
    CHECK(rounds_to(dtype, smallest_subnormal / 2, 0.0));
    CHECK(rounds_to(dtype, std::nextafter(smallest_subnormal / 2, 1.0), smallest_subnormal));
    CHECK(rounds_to(dtype, 1.5 * smallest_subnormal, 2 * smallest_subnormal));
    CHECK(rounds_to(dtype, 0x1p-1022, 0.0));
    CHECK(rounds_to(dtype, 0x1p-1074, 0.0));  // a subnormal double
  };
  check(Dtype::fp32, 0x1p-149);
  check(Dtype::bf16, 0x1p-133);
  check(Dtype::fp16, 0x1p-24);
  check(Dtype::fp8_e4m3, 0x1p-9);
  check(Dtype::fp8_e5m2, 0x1p-16);
}

TEST_CASE("one rounding not one to fp32 and another from there") {
  CHECK(round_to(Dtype::bf16, 1 + 0x1p-8 + 0x1p-40) == 1 + 0x1p-7);
  CHECK(round_to(Dtype::fp16, 1 + 0x1p-11 + 0x1p-40) == 1 + 0x1p-10);
  CHECK(round_to(Dtype::fp8_e4m3, 1 + 0x1p-4 + 0x1p-40) == 1 + 0x1p-3);
  CHECK(round_to(Dtype::fp8_e5m2, 1 + 0x1p-3 + 0x1p-40) == 1 + 0x1p-2);
}

TEST_CASE("fp32 is the machine's float") {
  std::uint64_t state = 1;
  std::size_t wrong = 0;
  for (int i = 0; i < 300'000; ++i) {
    // Exponents from below the smallest subnormal float to the largest float, and a fraction that
    // is any, or a float's, or halfway between two floats.
    std::uint64_t exponent = 1023 - 152 + next_pattern(state) % (152 + 128);
    std::uint64_t fraction = next_pattern(state) >> 12;
    if (i % 3 != 0) fraction &= ~((std::uint64_t{1} << 29) - 1);
    if (i % 3 == 2) fraction |= std::uint64_t{1} << 28;
    double x = std::bit_cast<double>(exponent << 52 | fraction);
    if (x >= 0x1.ffffffp127) continue;  // the cast has no defined value there
    wrong += !rounds_to(Dtype::fp32, x, static_cast<float>(x));
  }
  CHECK(wrong == 0);
}

TEST_CASE("fp64 leaves everything as it is") {
  std::uint64_t state = 2;
  for (int i = 0; i < 1000; ++i) {
    double x = std::bit_cast<double>(next_pattern(state));
    if (!std::isnan(x)) CHECK(rounds_to(Dtype::fp64, x, x));
  }
  CHECK(rounds_to(Dtype::fp64, kInfinity, kInfinity));
  CHECK(rounds_to(Dtype::fp64, largest_finite(Dtype::fp64), largest_finite(Dtype::fp64)));
}

constexpr Dtype kAllTypes[] = {Dtype::fp64, Dtype::fp32,     Dtype::tf32,    Dtype::bf16,
                               Dtype::fp16, Dtype::fp8_e4m3, Dtype::fp8_e5m2};

TEST_CASE("NaN stays NaN zeros keep their sign") {
  for (Dtype dtype : kAllTypes) {
    CAPTURE(name(dtype));
    CHECK(std::isnan(round_to(dtype, kNan)));
    CHECK(std::isnan(round_to(dtype, -kNan)));
    CHECK(same_bits(round_to(dtype, 0.0), 0.0));
    CHECK(same_bits(round_to(dtype, -0.0), -0.0));
  }
}

TEST_CASE("the limits are those of the encodings") {
  for (const Encoding& encoding : kSmallTypes) {
    CAPTURE(name(encoding.dtype));
    CHECK(largest_finite(encoding.dtype) == decode(encoding, encoding.largest));
    CHECK(smallest_normal(encoding.dtype) == decode(encoding, 1U << encoding.fraction_bits));
    CHECK(bytes(encoding.dtype) == (1 + encoding.exponent_bits + encoding.fraction_bits) / 8);
    std::vector<double> all = numbers(encoding);
    std::size_t one = 0;
    while (all[one] != 1.0) ++one;
    CHECK(unit_roundoff(encoding.dtype) == (all[one + 1] - 1.0) / 2);
  }
  CHECK(largest_finite(Dtype::fp8_e4m3) == 448.0);
  CHECK(largest_finite(Dtype::fp8_e5m2) == 57344.0);

  using Float = std::numeric_limits<float>;
  CHECK(largest_finite(Dtype::fp32) == Float::max());
  CHECK(smallest_normal(Dtype::fp32) == Float::min());
  CHECK(unit_roundoff(Dtype::fp32) == Float::epsilon() / 2);
  CHECK(bytes(Dtype::fp32) == 4);
  using Double = std::numeric_limits<double>;
  CHECK(largest_finite(Dtype::fp64) == Double::max());
  CHECK(smallest_normal(Dtype::fp64) == Double::min());
  CHECK(unit_roundoff(Dtype::fp64) == Double::epsilon() / 2);
  CHECK(bytes(Dtype::fp64) == 8);
}

TEST_CASE("tf32 has the exponents of fp32 and the fraction of fp16 and is stored as fp32") {
  const Encoding tf32{Dtype::tf32, 8, 10, 0x3fbff};
  CHECK(largest_finite(Dtype::tf32) == decode(tf32, tf32.largest));
  CHECK(smallest_normal(Dtype::tf32) == smallest_normal(Dtype::fp32));
  CHECK(unit_roundoff(Dtype::tf32) == unit_roundoff(Dtype::fp16));
  CHECK(bytes(Dtype::tf32) == 4);
  CHECK(round_to(Dtype::tf32, 1 + 0x1p-11) == 1);
  CHECK(round_to(Dtype::tf32, 1 + 0x1p-11 + 0x1p-40) == 1 + 0x1p-10);
  CHECK(stored_dtype(Dtype::tf32) == Dtype::fp32);
  for (const Dtype dtype : kAllTypes) {
    if (dtype != Dtype::tf32) CHECK(stored_dtype(dtype) == dtype);
  }
}

TEST_CASE("the names") {
  CHECK(name(Dtype::fp64) == "fp64");
  CHECK(name(Dtype::fp32) == "fp32");
  CHECK(name(Dtype::tf32) == "tf32");
  CHECK(name(Dtype::bf16) == "bf16");
  CHECK(name(Dtype::fp16) == "fp16");
  CHECK(name(Dtype::fp8_e4m3) == "fp8_e4m3");
  CHECK(name(Dtype::fp8_e5m2) == "fp8_e5m2");
}

TEST_CASE("a span is rounded as its elements are") {
  const std::vector<double> values = {0.1,   -0.1, 1e-9, 463.0, 70000.0,   1e39,
                                      -1e39, 0.0,  -0.0, kNan,  kInfinity, -kInfinity};
  for (Dtype dtype : kAllTypes) {
    CAPTURE(name(dtype));
    std::vector<double> rounded = values;
    round_to(dtype, rounded);
    for (std::size_t i = 0; i < values.size(); ++i) {
      CAPTURE(values[i]);
      double expected = round_to(dtype, values[i]);
      CHECK((same_bits(rounded[i], expected) || (std::isnan(rounded[i]) && std::isnan(expected))));
    }
  }
}

}  // namespace
}  // namespace swa
