// Files of NumPy's .npy format, one array each.
//
// Read are versions 1.0, 2.0 and 3.0 with little-endian fp64, fp32 and fp16 ('<f8', '<f4', '<f2')
// in C order. NumPy knows no bf16 and no fp8: they are written as '<f4' and '<f2', which hold their
// numbers exactly, and read back as fp32 and fp16.
// Source: NumPy's documentation of numpy.lib.format.
#pragma once

#include <string>

#include "tensor/array.hpp"
#include "tensor/source.hpp"

namespace swa {

// Both throw UsageError "FILE: WHY" for every other file, before memory is taken for what its
// header claims, and CannotRun where the array does not fit into memory. NaN and infinities are
// read: find_non_finite() finds them.
Array read_npy(const Source& source);
Array read_npy(const std::string& path);

// Version 1.0. Values are rounded to the array's dtype. Throws as write_file() does; an older file
// stays as it was then.
void write_npy(const std::string& path, const Array& array);

}  // namespace swa
