// Private to this room: the values of an array as bytes of a file.
#pragma once

#include "file.hpp"
#include "tensor/array.hpp"

namespace swa {

// Throws std::invalid_argument for an array whose values are not those of its shape.
void require_whole(const Array& array);

// The values, rounded to the array's dtype, in the encoding of `stored`.
void write_values(PendingFile& file, const Array& array, Dtype stored);

}  // namespace swa
