// Every pattern of the small types, against numbers put together from sign, exponent and fraction.
#include "tensor/bits.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

namespace swa {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Encoding {
  Dtype dtype;
  int exponent_bits, fraction_bits;
  bool has_infinity;
};
constexpr Encoding kSmallTypes[] = {{Dtype::bf16, 8, 7, true},
                                    {Dtype::fp16, 5, 10, true},
                                    {Dtype::fp8_e4m3, 4, 3, false},
                                    {Dtype::fp8_e5m2, 5, 2, true}};
constexpr Dtype kAllTypes[] = {Dtype::fp64, Dtype::fp32,     Dtype::tf32,    Dtype::bf16,
                               Dtype::fp16, Dtype::fp8_e4m3, Dtype::fp8_e5m2};

std::uint64_t patterns(const Encoding& e) {
  return std::uint64_t{1} << (1 + e.exponent_bits + e.fraction_bits);
}

// From the definition of the encodings; NaN without a sign.
double number(const Encoding& e, std::uint64_t pattern) {
  const std::uint64_t steps = std::uint64_t{1} << e.fraction_bits;
  const std::uint64_t fraction = pattern % steps;
  const int exponents = 1 << e.exponent_bits;
  const int exponent = static_cast<int>(pattern / steps) % exponents;
  const int bias = exponents / 2 - 1;
  const double sign = pattern >= patterns(e) / 2 ? -1.0 : 1.0;
  if (exponent == exponents - 1) {
    if (e.has_infinity) return fraction == 0 ? sign * kInfinity : kNan;
    if (fraction == steps - 1) return kNan;
  }
  const double significand =
      static_cast<double>(fraction) / static_cast<double>(steps) + (exponent == 0 ? 0.0 : 1.0);
  return sign * std::ldexp(significand, (exponent == 0 ? 1 : exponent) - bias);
}

bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b)
                       : std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// A linear congruential generator, whose high bits will do for bit patterns.
std::uint64_t next_pattern(std::uint64_t& state) {
  state = state * 6364136223846793005U + 1442695040888963407U;
  return state ^ (state >> 32);
}

}  // namespace

TEST_CASE("every pattern of the small types decodes to its number and back") {
  for (const Encoding& e : kSmallTypes) {
    CAPTURE(name(e.dtype));
    std::uint64_t wrong = 0, nans = 0;
    for (std::uint64_t pattern = 0; pattern < patterns(e); ++pattern) {
      const double expected = number(e, pattern), decoded = from_bits(e.dtype, pattern);
      const std::uint64_t again = to_bits(e.dtype, decoded);
      wrong += !same(decoded, expected);
      if (std::isnan(expected)) {
        ++nans;
        wrong += !std::isnan(number(e, again));
        wrong += std::signbit(decoded) != (pattern >= patterns(e) / 2);
        wrong += (again >= patterns(e) / 2) != (pattern >= patterns(e) / 2);
      } else {
        wrong += again != pattern;
      }
    }
    CHECK(wrong == 0);
    const std::uint64_t fractions = std::uint64_t{1} << e.fraction_bits;
    CHECK(nans == (e.has_infinity ? 2 * (fractions - 1) : 2));
  }
}

TEST_CASE("patterns that everybody knows") {
  CHECK(to_bits(Dtype::fp16, 1.0) == 0x3c00);
  CHECK(to_bits(Dtype::fp16, -2.0) == 0xc000);
  CHECK(to_bits(Dtype::fp16, 65504.0) == 0x7bff);
  CHECK(to_bits(Dtype::fp16, 65520.0) == 0x7c00);
  CHECK(to_bits(Dtype::fp16, -0x1p-24) == 0x8001);
  CHECK(to_bits(Dtype::tf32, -1.5) == 0xbfc0'0000);
  CHECK(to_bits(Dtype::tf32, 1 + 0x1p-10) == 0x3f80'2000);
  CHECK(to_bits(Dtype::tf32, 1 + 0x1p-12) == 0x3f80'0000);
  CHECK(to_bits(Dtype::bf16, 1.0) == 0x3f80);
  CHECK(to_bits(Dtype::bf16, -kInfinity) == 0xff80);
  CHECK(to_bits(Dtype::fp8_e4m3, 448.0) == 0x7e);
  CHECK(to_bits(Dtype::fp8_e4m3, kInfinity) == 0x7f);  // it has none, and NaN instead
  CHECK(to_bits(Dtype::fp8_e4m3, -0x1p-9) == 0x81);
  CHECK(to_bits(Dtype::fp8_e5m2, 57344.0) == 0x7b);
  CHECK(to_bits(Dtype::fp8_e5m2, 1e9) == 0x7c);
  CHECK(to_bits(Dtype::fp32, 1.0) == 0x3f800000);
  CHECK(to_bits(Dtype::fp64, 1.0) == 0x3ff0000000000000);
  CHECK(same(from_bits(Dtype::fp16, 0x8000), -0.0));
  // A word may carry more than the type.
  CHECK(from_bits(Dtype::fp16, 0xffff3c00) == 1.0);
  CHECK(from_bits(Dtype::fp8_e5m2, 0xff3c) == 1.0);
}

TEST_CASE("what is encoded is rounded as round_to rounds") {
  std::uint64_t state = 1, wrong = 0;
  for (const Dtype dtype : kAllTypes) {
    for (int i = 0; i < 20'000; ++i) {
      // A random exponent rarely falls into the range of a type, from below its subnormal numbers
      // to beyond its largest.
      const int least = std::ilogb(smallest_normal(dtype)) - 26;
      const int most = std::ilogb(largest_finite(dtype)) + 2;
      const double significand =
          1 + std::ldexp(static_cast<double>(next_pattern(state) >> 12), -52);
      const double x =
          std::ldexp(i % 2 == 0 ? significand : -significand,
                     least + static_cast<int>(next_pattern(state) % 4096) % (most - least + 1));
      const double expected = round_to(dtype, x);
      wrong += !same(from_bits(dtype, to_bits(dtype, x)), expected);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("fp32 is the machine's float bit for bit") {
  std::uint64_t state = 3, wrong = 0;
  for (std::uint32_t i = 0; i < 400'000; ++i) {
    std::uint32_t pattern = static_cast<std::uint32_t>(next_pattern(state));
    if (i % 4 == 0) pattern &= 0x80ffffff;  // subnormal, or of the smallest exponent
    if (i % 4 == 1) pattern |= 0x7f000000;  // the largest exponents, infinity, NaN
    const float machine = std::bit_cast<float>(pattern);
    const double decoded = from_bits(Dtype::fp32, pattern);
    wrong += !same(decoded, static_cast<double>(machine));
    const std::uint64_t again = to_bits(Dtype::fp32, decoded);
    wrong += std::isnan(machine)
                 ? !std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(again)))
                 : again != pattern;
  }
  for (const std::uint32_t pattern : {0U, 0x80000000U, 0x7f800000U, 0xff800000U, 0x00800000U}) {
    CHECK(
        same(from_bits(Dtype::fp32, pattern), static_cast<double>(std::bit_cast<float>(pattern))));
    CHECK(to_bits(Dtype::fp32, from_bits(Dtype::fp32, pattern)) == pattern);
  }
  CHECK(wrong == 0);
}

TEST_CASE("fp64 keeps every bit even those of NaN") {
  std::uint64_t state = 4, wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t pattern = next_pattern(state);
    wrong += to_bits(Dtype::fp64, from_bits(Dtype::fp64, pattern)) != pattern;
  }
  CHECK(wrong == 0);
  CHECK(to_bits(Dtype::fp64, from_bits(Dtype::fp64, 0xfff8000000000123)) == 0xfff8000000000123);
}

TEST_CASE("bytes are little-endian and spans are encoded as their elements are") {
  // More than one block of the encoder, and no multiple of it.
  std::vector<double> values(1234);
  std::uint64_t state = 5;
  for (double& value : values) {
    value = std::ldexp(static_cast<double>(next_pattern(state) >> 11), -60);
  }
  values[0] = kNan;
  values[1] = -kInfinity;
  values[2] = -0.0;
  for (const Dtype dtype : kAllTypes) {
    CAPTURE(name(dtype));
    const std::size_t width = static_cast<std::size_t>(bytes(dtype));
    std::vector<std::byte> encoded(values.size() * width);
    encode(dtype, values, encoded);
    std::vector<double> decoded(values.size());
    decode(dtype, encoded, decoded);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint64_t bits = 0;
      for (std::size_t b = width; b-- > 0;) {
        bits = bits << 8 | std::to_integer<std::uint64_t>(encoded[i * width + b]);
      }
      wrong += bits != to_bits(dtype, values[i]);
      wrong += !same(decoded[i], round_to(dtype, values[i]));
    }
    CHECK(wrong == 0);
    CHECK_THROWS_AS(decode(dtype, std::span(encoded).first(width * 1000), decoded),
                    std::invalid_argument);
    CHECK_THROWS_AS(encode(dtype, std::span(values).first(1000), encoded), std::invalid_argument);
    encode(dtype, {}, {});
  }
}

}  // namespace swa
