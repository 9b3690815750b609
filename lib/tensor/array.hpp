// An array of any number of axes, as tensor files hold them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mask/window.hpp"
#include "tensor/dtype.hpp"

namespace swa {

struct Array {
  std::vector<Index> shape;         // lengths of the axes; no axis: one number
  Dtype dtype = Dtype::fp64;        // of the elements in the file
  std::vector<double> values = {};  // row-major, element_count(shape) of them
};

// As many as NumPy allows.
inline constexpr std::size_t kMaxAxes = 64;

// The elements of a shape. None where it has more than kMaxAxes axes or a negative length, or where
// the lengths other than 0 multiply to more than kMaxIndex: strides of such a shape may overflow,
// even where it has no element.
std::optional<Index> element_count(std::span<const Index> shape);

// "[2, 3]"; "[]" for one number.
std::string describe(std::span<const Index> indices);

// What in an array is NaN or infinite.
struct NonFinite {
  Index count = 0;           // of such elements
  std::vector<Index> first;  // where the first of them stands, an index for each axis
  double value = 0;          // the first of them
};
// None where all elements are finite.
std::optional<NonFinite> find_non_finite(const Array& array);

}  // namespace swa
