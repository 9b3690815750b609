#include "kernels/resources.hpp"

#include <algorithm>
#include <tuple>

#include "kernels/resources/describe.hpp"

namespace swa {

std::vector<Resources> kernel_resources() {
  std::vector<Resources> all;
  for (const CompiledKernel& compiled : compiled_kernels()) all.push_back(describe(compiled));
  std::sort(all.begin(), all.end(), [](const Resources& a, const Resources& b) {
    const auto key = [](const Resources& r) {
      return std::tie(r.kernel, r.dtype, r.head_dim, r.head_dim_v, r.variant, r.arch);
    };
    return key(a) < key(b);
  });
  return all;
}

std::string mma_shape(const std::string& instruction) {
  std::string shape;
  // The shape is the piece "m16n8k16"; the layouts of the factors stand before the types.
  for (std::size_t begin = 0; begin < instruction.size();) {
    const std::size_t end = std::min(instruction.find('.', begin), instruction.size());
    const std::string piece = instruction.substr(begin, end - begin);
    const bool sizes = piece.size() > 1 && piece[0] == 'm' && piece[1] >= '0' && piece[1] <= '9';
    if (sizes) {
      shape = piece;
    } else if (!shape.empty() && piece != "row" && piece != "col") {
      shape += '.' + piece;
    }
    begin = end + 1;
  }
  return shape;
}

}  // namespace swa
