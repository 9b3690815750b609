// Numbers held as doubles, and the elements that a kernel of somebody else or of a GPU reads.
#pragma once

#include <cstddef>
#include <span>

#include "tensor/dtype.hpp"

namespace swa {

// fp64, fp32, tf32, bf16 and fp16.
bool has_elements(Dtype dtype);

// Each value is a number of the dtype, or NaN: nothing is rounded. `to` holds as many elements.
void pack(Dtype dtype, std::span<const double> values, std::byte* to);
// An element that still has the bits of poison() becomes kUnwritten.
void unpack(Dtype dtype, const std::byte* from, std::span<double> values);
// Fills `count` elements with a NaN that no computation makes.
void poison(Dtype dtype, std::byte* to, std::size_t count);

}  // namespace swa
