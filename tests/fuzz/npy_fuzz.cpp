#include "fuzz/targets.hpp"
#include "tensor/npy.hpp"

bool swa::fuzz::npy(Bytes file) {
  return is_taken([&] {
    const Array array = read_npy(Source("file", file));
    const auto count = element_count(array.shape);
    require(count && static_cast<std::size_t>(*count) == array.values.size(),
            "values of the shape");
    require(array.values.size() * static_cast<std::size_t>(bytes(array.dtype)) < file.size(),
            "no more than the file holds");
    find_non_finite(array);
  });
}
