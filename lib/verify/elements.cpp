#include "verify/elements.hpp"

#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "problem/problem.hpp"
#include "tensor/bits.hpp"

namespace swa {
namespace {

// NaNs that no computation makes: processors make NaNs whose payload is 0 or all ones. In the low
// bytes, which come first in memory here.
std::uint64_t poison_bits(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp64:
      return std::bit_cast<std::uint64_t>(kUnwritten);
    case Dtype::fp32:
    case Dtype::tf32:
      return 0x7fd3'5a61;
    case Dtype::bf16:
      return 0x7fd3;
    case Dtype::fp16:
      return 0x7f53;
    case Dtype::fp8_e4m3:
    case Dtype::fp8_e5m2:
      break;
  }
  throw std::logic_error("no kernel is given 8-bit elements");
}

std::size_t size_of(Dtype dtype) {
  return static_cast<std::size_t>(bytes(dtype));
}

}  // namespace

bool has_elements(Dtype dtype) {
  return bytes(dtype) >= 2;
}

void pack(Dtype dtype, std::span<const double> values, std::byte* to) {
  encode(dtype, values, {to, values.size() * size_of(dtype)});
}

void unpack(Dtype dtype, const std::byte* from, std::span<double> values) {
  decode(dtype, {from, values.size() * size_of(dtype)}, values);
  const std::uint64_t poisoned = poison_bits(dtype);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::memcmp(from + i * size_of(dtype), &poisoned, size_of(dtype)) == 0) {
      values[i] = kUnwritten;
    }
  }
}

void poison(Dtype dtype, std::byte* to, std::size_t count) {
  const std::uint64_t poisoned = poison_bits(dtype);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(to + i * size_of(dtype), &poisoned, size_of(dtype));
  }
}

}  // namespace swa
