#include "tensor/array.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace swa {

std::optional<Index> element_count(std::span<const Index> shape) {
  if (shape.size() > kMaxAxes) return std::nullopt;
  bool empty = false;
  Index product = 1;
  for (const Index length : shape) {
    if (length < 0) return std::nullopt;
    if (length == 0) {
      empty = true;
    } else if (length > kMaxIndex / product) {
      return std::nullopt;
    } else {
      product *= length;
    }
  }
  return empty ? 0 : product;
}

std::string describe(std::span<const Index> indices) {
  return fmt::format("[{}]", fmt::join(indices, ", "));
}

std::optional<NonFinite> find_non_finite(const Array& array) {
  const auto is_bad = [](double value) { return !std::isfinite(value); };
  const auto first = std::find_if(array.values.begin(), array.values.end(), is_bad);
  if (first == array.values.end()) return std::nullopt;
  NonFinite found;
  found.count = std::count_if(first, array.values.end(), is_bad);
  found.value = *first;
  found.first.resize(array.shape.size());
  Index position = first - array.values.begin();
  for (std::size_t axis = array.shape.size(); axis-- > 0;) {
    found.first[axis] = position % array.shape[axis];
    position /= array.shape[axis];
  }
  return found;
}

}  // namespace swa
