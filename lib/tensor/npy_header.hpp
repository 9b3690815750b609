// Private to this room: the header of a .npy file.
#pragma once

#include <vector>

#include "tensor/dtype.hpp"
#include "tensor/source.hpp"

namespace swa {

struct NpyHeader {
  Dtype dtype = Dtype::fp64;
  std::vector<Index> shape;  // element_count() knows it
  Index data = 0;            // where the elements begin
};

// Throws UsageError for what is no .npy file, and for one whose array is of another kind than
// read_npy() reads.
NpyHeader read_npy_header(const Source& source);

}  // namespace swa
