#include "tensor/dtype.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace swa {
namespace {

struct Format {
  std::string_view name;
  int bytes;
  double unit_roundoff;
  double smallest_normal;
  double largest_finite;
  double beyond_largest;  // what an overflow becomes
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// In the order of Dtype.
constexpr std::array<Format, 7> kFormats = {{
    {"fp64", 8, 0x1p-53, 0x1p-1022, 0x1.fffffffffffffp1023, kInfinity},
    {"fp32", 4, 0x1p-24, 0x1p-126, 0x1.fffffep127, kInfinity},
    {"tf32", 4, 0x1p-11, 0x1p-126, 0x1.ffcp127, kInfinity},
    {"bf16", 2, 0x1p-8, 0x1p-126, 0x1.fep127, kInfinity},
    {"fp16", 2, 0x1p-11, 0x1p-14, 0x1.ffcp15, kInfinity},
    {"fp8_e4m3", 1, 0x1p-4, 0x1p-6, 448.0, kNan},
    {"fp8_e5m2", 1, 0x1p-3, 0x1p-14, 57344.0, kInfinity},
}};

const Format& format_of(Dtype dtype) {
  return kFormats[static_cast<std::size_t>(dtype)];
}

// The largest power of two <= magnitude; 0 for what is below the normal doubles.
double binade(double magnitude) {
  constexpr std::uint64_t kExponentBits = 0x7ff0'0000'0000'0000;
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) & kExponentBits);
}

// For the types narrower than fp64.
double round_narrow(const Format& format, double x) {
  if (std::isnan(x)) return x;
  double magnitude = std::abs(x);
  // This early exit also keeps `anchor` below from overflowing.
  if (magnitude >= 2 * format.largest_finite) return std::copysign(format.beyond_largest, x);

  // Between anchor and 2 * anchor the doubles are spaced as the type is around x, so that the
  // addition performs the one rounding, ties to even, and the subtraction is exact. Below the
  // normal numbers the spacing is that of the smallest normals.
  double spacing = 2 * format.unit_roundoff * std::max(binade(magnitude), format.smallest_normal);
  double anchor = spacing * 0x1p52;
  double rounded = (magnitude + anchor) - anchor;
  if (rounded > format.largest_finite) rounded = format.beyond_largest;
  return std::copysign(rounded, x);
}

}  // namespace

std::string_view name(Dtype dtype) {
  return format_of(dtype).name;
}

std::optional<Dtype> parse_dtype(std::string_view word) {
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (kFormats[i].name == word) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

Dtype stored_dtype(Dtype dtype) {
  return dtype == Dtype::tf32 ? Dtype::fp32 : dtype;
}

int bytes(Dtype dtype) {
  return format_of(dtype).bytes;
}

double unit_roundoff(Dtype dtype) {
  return format_of(dtype).unit_roundoff;
}

double smallest_normal(Dtype dtype) {
  return format_of(dtype).smallest_normal;
}

double largest_finite(Dtype dtype) {
  return format_of(dtype).largest_finite;
}

double round_to(Dtype dtype, double x) {
  return dtype == Dtype::fp64 ? x : round_narrow(format_of(dtype), x);
}

void round_to(Dtype dtype, std::span<double> values) {
  if (dtype == Dtype::fp64) return;
  const Format& format = format_of(dtype);
  for (double& value : values) value = round_narrow(format, value);
}

}  // namespace swa
