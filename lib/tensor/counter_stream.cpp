#include "tensor/counter_stream.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace swa {
namespace {

using Four = std::array<double, 4>;

// 1 / n!, each rounded once.
constexpr std::array kInverseFactorials = [] {
  std::array<double, 18> table{};
  double factorial = 1;  // exact: 17! < 2^53
  for (std::size_t n = 0; n < table.size(); ++n) {
    if (n > 0) factorial *= static_cast<double>(n);
    table[n] = 1 / factorial;
  }
  return table;
}();

// Taylor's sum of the terms t^n / n! of n = last, last - 2, ... down to `least`, alternating in
// sign, over t^least.
double alternating(double t_squared, std::size_t last, std::size_t least) {
  double sum = kInverseFactorials[last];
  for (std::size_t n = last; n > least; n -= 2) {
    sum = kInverseFactorials[n - 2] - sum * t_squared;
  }
  return sum;
}

struct Angle {
  double cosine, sine;
};

// Of word / 2^32 of a turn. The turn's eighths have their angles within [0, pi / 4].
Angle angle_of(std::uint32_t word) {
  constexpr double kStep = 0x1.921fb54442d18p-30;  // pi / 2^31, rounded
  const std::uint32_t octant = word >> 29, rest = word & 0x1fff'ffff;
  const std::uint32_t steps = octant % 2 == 0 ? rest : 0x2000'0000 - rest;
  const double t = static_cast<double>(steps) * kStep, squared = t * t;
  double cosine = alternating(squared, 16, 0), sine = t * alternating(squared, 17, 1);
  const bool steep = (octant + 1) % 4 >= 2;  // nearer to the vertical
  if (steep) std::swap(cosine, sine);
  if (octant >= 2 && octant < 6) cosine = -cosine;
  if (octant >= 4) sine = -sine;
  return {cosine, sine};
}

// -2 ln((word + 1/2) / 2^32), by the series of artanh.
double square_of_radius(std::uint32_t word) {
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  constexpr std::size_t kTerms = 11;  // the next is below 2^-53 of the sum
  // u = odd / 2^33 = m 2^exponent with m in [2^-1/2, 2^1/2), nearly.
  const std::uint64_t odd = 2 * std::uint64_t{word} + 1;
  int exponent = static_cast<int>(std::bit_width(odd)) - 34;
  double m = std::bit_cast<double>(
      (std::bit_cast<std::uint64_t>(static_cast<double>(odd)) & 0x000f'ffff'ffff'ffff) |
      0x3ff0'0000'0000'0000);  // in [1, 2)
  if (m >= 1.4140625) {
    m = m * 0.5;
    exponent += 1;
  }
  const double s = (m - 1) / (m + 1), squared = s * s;
  double sum = 1.0 / static_cast<double>(2 * kTerms - 1);
  for (std::size_t n = kTerms - 1; n > 0; --n) {
    sum = sum * squared + 1.0 / static_cast<double>(2 * n - 1);
  }
  return -2 * (static_cast<double>(exponent) * kLn2 + 2 * s * sum);
}

std::array<std::uint32_t, 4> words_of(const CounterStream& stream, Index block) {
  const auto place = static_cast<std::uint64_t>(block);
  return philox(
      {static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(place >> 32), stream.tensor,
       0},
      {static_cast<std::uint32_t>(stream.seed), static_cast<std::uint32_t>(stream.seed >> 32)});
}

Four normals(const std::array<std::uint32_t, 4>& words) {
  Four four;
  for (std::size_t i = 0; i < 4; i += 2) {
    const double radius = std::sqrt(square_of_radius(words[i]));
    const Angle angle = angle_of(words[i + 1]);
    four[i] = radius * angle.cosine;
    four[i + 1] = radius * angle.sine;
  }
  return four;
}

Four uniforms(const std::array<std::uint32_t, 4>& words) {
  Four four;
  for (std::size_t i = 0; i < 4; ++i) four[i] = static_cast<double>(words[i]) * 0x1p-32;
  return four;
}

template <class Transform>
void fill_with(const CounterStream& stream, std::span<double> values, Index first,
               Transform transform) {
  Index block = first / 4;
  for (std::size_t at = 0; at < values.size(); at += 4, ++block) {
    const Four four = transform(words_of(stream, block));
    std::copy_n(four.begin(), std::min<std::size_t>(4, values.size() - at),
                values.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key) {
  constexpr int kRounds = 10;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t a = std::uint64_t{0xd2511f53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xcd9e8d57} * counter[2];
    counter = {
        static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  return counter;
}

void CounterStream::fill(std::span<double> values, Index first) const {
  fill_with(*this, values, first, normals);
}

void CounterStream::fill_uniform(std::span<double> values, Index first) const {
  fill_with(*this, values, first, uniforms);
}

}  // namespace swa
