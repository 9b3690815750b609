// Numbers of the element types as bit patterns, and back.
//
// Patterns stand in the low bits of a word, and little-endian in bytes. Every pattern decodes; what
// is encoded is rounded as round_to() says. The sign of a NaN is kept, its payload only in fp64.
// No step meets a subnormal double for a subnormal number of a narrower type, so that nothing
// changes where a library has told the processor to flush those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/dtype.hpp"

namespace swa {

// Bits beyond the width of the type are ignored.
double from_bits(Dtype dtype, std::uint64_t bits);
std::uint64_t to_bits(Dtype dtype, double x);

// Many at once. `encoded` has bytes(dtype) bytes for each of the values; else
// std::invalid_argument.
void decode(Dtype dtype, std::span<const std::byte> encoded, std::span<double> values);
void encode(Dtype dtype, std::span<const double> values, std::span<std::byte> encoded);

}  // namespace swa
