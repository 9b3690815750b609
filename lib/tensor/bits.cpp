#include "tensor/bits.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace swa {
namespace {

static_assert(std::endian::native == std::endian::little, "elements of files are copied as words");

struct Fp64 {
  using Bits = std::uint64_t;
  static double number(Bits bits) { return std::bit_cast<double>(bits); }
  static Bits bits(double x) { return std::bit_cast<Bits>(x); }
};

constexpr int kDoubleFraction = 52, kDoubleBias = 1023;
constexpr std::uint64_t kDoubleSign = std::uint64_t{1} << 63;

constexpr double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + kDoubleBias)
                               << kDoubleFraction);
}

// A sign, an exponent and a fraction, with subnormal numbers where the exponent is 0.
template <class Word, int kExponentBits, int kFractionBits, bool kHasInfinity>
struct Narrow {
  using Bits = Word;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr std::uint64_t kSign = std::uint64_t{1} << (kExponentBits + kFractionBits);
  static constexpr std::uint64_t kSmallestNormal = std::uint64_t{1} << kFractionBits;
  // The largest exponent is that of infinity and NaN; without infinity, only its largest fraction
  // is taken, by NaN.
  static constexpr std::uint64_t kInfinity = kSign - kSmallestNormal;
  static constexpr std::uint64_t kFirstNan = kHasInfinity ? kInfinity + 1 : kSign - 1;
  static constexpr std::uint64_t kQuietNan =
      kHasInfinity ? kInfinity | kSmallestNormal >> 1 : kFirstNan;
  static constexpr int kShift = kDoubleFraction - kFractionBits;
  static constexpr std::uint64_t kRebias = static_cast<std::uint64_t>(kDoubleBias - kBias)
                                           << kDoubleFraction;
  static constexpr int kSubnormalExponent = 1 - kBias - kFractionBits;  // of the last bit

  static double number(Bits bits) {
    const std::uint64_t magnitude = bits & (kSign - 1);
    double number = std::bit_cast<double>((magnitude << kShift) + kRebias);
    if (magnitude < kSmallestNormal) {
      number = static_cast<double>(static_cast<std::int32_t>(magnitude)) *
               power_of_two(kSubnormalExponent);
    }
    if (kHasInfinity && magnitude == kInfinity) number = std::numeric_limits<double>::infinity();
    if (magnitude >= kFirstNan) number = std::numeric_limits<double>::quiet_NaN();
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(number) |
                                 ((bits & kSign) != 0 ? kDoubleSign : 0));
  }

  // Of a number of the type.
  static Bits bits(double number) {
    const std::uint64_t sign = std::signbit(number) ? kSign : 0;
    const double magnitude = std::abs(number);
    std::uint64_t bits = (std::bit_cast<std::uint64_t>(magnitude) - kRebias) >> kShift;
    if (magnitude < power_of_two(1 - kBias)) {
      bits = static_cast<std::uint64_t>(
          static_cast<std::int32_t>(magnitude * power_of_two(-kSubnormalExponent)));
    }
    if (std::isinf(magnitude)) bits = kInfinity;
    if (std::isnan(magnitude)) bits = kQuietNan;
    return static_cast<Bits>(bits | sign);
  }
};

using Fp32 = Narrow<std::uint32_t, 8, 23, true>;
using Bf16 = Narrow<std::uint16_t, 8, 7, true>;
using Fp16 = Narrow<std::uint16_t, 5, 10, true>;
using Fp8E4m3 = Narrow<std::uint8_t, 4, 3, false>;
using Fp8E5m2 = Narrow<std::uint8_t, 5, 2, true>;

// Calls action with a value of the type that describes the dtype.
template <class Action>
auto with_encoding(Dtype dtype, const Action& action) {
  switch (dtype) {
    case Dtype::fp64:
      return action(Fp64{});
    case Dtype::fp32:
    case Dtype::tf32:
      return action(Fp32{});
    case Dtype::bf16:
      return action(Bf16{});
    case Dtype::fp16:
      return action(Fp16{});
    case Dtype::fp8_e4m3:
      return action(Fp8E4m3{});
    case Dtype::fp8_e5m2:
      return action(Fp8E5m2{});
  }
  throw std::invalid_argument("no such dtype");
}

void require_bytes(Dtype dtype, std::size_t values, std::size_t encoded) {
  if (encoded % static_cast<std::size_t>(bytes(dtype)) != 0 ||
      encoded / static_cast<std::size_t>(bytes(dtype)) != values) {
    throw std::invalid_argument("as many bytes as the values take are needed");
  }
}

}  // namespace

double from_bits(Dtype dtype, std::uint64_t bits) {
  return with_encoding(dtype, [&]<class Encoding>(Encoding) {
    return Encoding::number(static_cast<typename Encoding::Bits>(bits));
  });
}

std::uint64_t to_bits(Dtype dtype, double x) {
  const double rounded = round_to(dtype, x);
  return with_encoding(
      dtype, [&]<class Encoding>(Encoding) { return std::uint64_t{Encoding::bits(rounded)}; });
}

void decode(Dtype dtype, std::span<const std::byte> encoded, std::span<double> values) {
  require_bytes(dtype, values.size(), encoded.size());
  with_encoding(dtype, [&]<class Encoding>(Encoding) {
    typename Encoding::Bits bits;
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::memcpy(&bits, encoded.data() + i * sizeof bits, sizeof bits);
      values[i] = Encoding::number(bits);
    }
  });
}

void encode(Dtype dtype, std::span<const double> values, std::span<std::byte> encoded) {
  require_bytes(dtype, values.size(), encoded.size());
  std::array<double, 512> rounded;
  with_encoding(dtype, [&]<class Encoding>(Encoding) {
    std::byte* next = encoded.data();
    while (!values.empty()) {
      const auto block = values.first(std::min(values.size(), rounded.size()));
      std::copy(block.begin(), block.end(), rounded.begin());
      round_to(dtype, std::span(rounded).first(block.size()));
      for (std::size_t i = 0; i < block.size(); ++i, next += sizeof(typename Encoding::Bits)) {
        const typename Encoding::Bits bits = Encoding::bits(rounded[i]);
        std::memcpy(next, &bits, sizeof bits);
      }
      values = values.subspan(block.size());
    }
  });
}

}  // namespace swa
