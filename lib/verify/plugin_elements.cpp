#include "verify/plugin_elements.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "problem/problem.hpp"

namespace swa {
namespace {

// The NaNs of poison(): processors make NaNs whose payload is 0 or all ones.
constexpr std::uint32_t kPoison32 = 0x7fd3'5a61;
constexpr std::uint16_t kPoisonBf16 = 0x7fd3, kPoisonFp16 = 0x7f53;

struct Fp64 {
  using Bits = std::uint64_t;
  static constexpr Bits kPoison = std::bit_cast<Bits>(kUnwritten);
  static Bits pack(double x) { return std::bit_cast<Bits>(x); }
  static double unpack(Bits bits) { return std::bit_cast<double>(bits); }
};

struct Fp32 {
  using Bits = std::uint32_t;
  static constexpr Bits kPoison = kPoison32;
  static Bits pack(double x) { return std::bit_cast<Bits>(static_cast<float>(x)); }
  static double unpack(Bits bits) { return std::bit_cast<float>(bits); }
};

struct Bf16 {  // the upper half of an fp32
  using Bits = std::uint16_t;
  static constexpr Bits kPoison = kPoisonBf16;
  static Bits pack(double x) { return static_cast<Bits>(Fp32::pack(x) >> 16); }
  static double unpack(Bits bits) { return Fp32::unpack(std::uint32_t{bits} << 16); }
};

struct Fp16 {  // sign, 5 bits of exponent with a bias of 15, 10 bits of fraction
  using Bits = std::uint16_t;
  static constexpr Bits kPoison = kPoisonFp16;
  static Bits pack(double x) {
    const int sign = std::signbit(x) ? 0x8000 : 0;
    if (std::isnan(x)) return static_cast<Bits>(sign | 0x7e00);
    if (std::isinf(x)) return static_cast<Bits>(sign | 0x7c00);
    const double magnitude = std::abs(x);
    if (magnitude < 0x1p-14) return static_cast<Bits>(sign | static_cast<int>(magnitude * 0x1p24));
    int exponent = 0;  // magnitude = fraction 2^exponent, 1/2 <= fraction < 1
    const double fraction = std::frexp(magnitude, &exponent);
    return static_cast<Bits>(sign | (exponent + 14) << 10 |
                             (static_cast<int>(fraction * 0x1p11) - (1 << 10)));
  }
  static double unpack(Bits bits) {
    const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    double magnitude = std::ldexp(fraction, -24);
    if (exponent == 31) {
      magnitude = fraction == 0 ? std::numeric_limits<double>::infinity()
                                : std::numeric_limits<double>::quiet_NaN();
    } else if (exponent > 0) {
      magnitude = std::ldexp(fraction + (1 << 10), exponent - 25);
    }
    return bits & 0x8000 ? -magnitude : magnitude;
  }
};

// Calls body with the format of the dtype.
template <class Body>
void with_format(Dtype dtype, const Body& body) {
  switch (dtype) {
    case Dtype::fp64:
      return body(Fp64());
    case Dtype::fp32:
      return body(Fp32());
    case Dtype::bf16:
      return body(Bf16());
    case Dtype::fp16:
      return body(Fp16());
    case Dtype::fp8_e4m3:
    case Dtype::fp8_e5m2:
      break;
  }
  throw std::logic_error("a plug-in is given no 8-bit elements");
}

}  // namespace

bool has_elements(Dtype dtype) {
  return bytes(dtype) >= 2;
}

void pack(Dtype dtype, std::span<const double> values, std::byte* to) {
  with_format(dtype, [&](auto format) {
    for (const double value : values) {
      const auto bits = format.pack(value);
      std::memcpy(to, &bits, sizeof bits);
      to += sizeof bits;
    }
  });
}

void unpack(Dtype dtype, const std::byte* from, std::span<double> values) {
  with_format(dtype, [&](auto format) {
    for (double& value : values) {
      typename decltype(format)::Bits bits;
      std::memcpy(&bits, from, sizeof bits);
      value = bits == format.kPoison ? kUnwritten : format.unpack(bits);
      from += sizeof bits;
    }
  });
}

void poison(Dtype dtype, std::byte* to, std::size_t count) {
  with_format(dtype, [&](auto format) {
    const auto bits = format.kPoison;
    for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * sizeof bits, &bits, sizeof bits);
  });
}

}  // namespace swa
