#include "tensor/write_values.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <vector>

#include "tensor/bits.hpp"

namespace swa {

void require_whole(const Array& array) {
  const auto count = element_count(array.shape);
  if (!count || static_cast<std::size_t>(*count) != array.values.size()) {
    throw std::invalid_argument("an array has not as many values as its shape says");
  }
}

void write_values(PendingFile& file, const Array& array, Dtype stored) {
  constexpr std::size_t kBlock = 1 << 13;
  std::vector<double> rounded;
  std::vector<std::byte> encoded;
  std::span<const double> rest = array.values;
  while (!rest.empty()) {
    const auto block = rest.first(std::min(rest.size(), kBlock));
    rounded.assign(block.begin(), block.end());
    round_to(array.dtype, rounded);
    encoded.resize(block.size() * static_cast<std::size_t>(bytes(stored)));
    encode(stored, rounded, encoded);
    file.write(encoded);
    rest = rest.subspan(block.size());
  }
}

}  // namespace swa
