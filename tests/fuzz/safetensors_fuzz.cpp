#include "fuzz/targets.hpp"
#include "tensor/safetensors.hpp"

bool swa::fuzz::safetensors(Bytes bytes_of_file) {
  return is_taken([&] {
    const SafetensorsFile file(Source("file", bytes_of_file));
    Index read = 0;
    for (const auto& entry : file.entries()) {
      const Array array = file.read(entry);
      require(array.shape == entry.shape && array.dtype == entry.dtype, "the array of the entry");
      require(
          static_cast<Index>(array.values.size()) * bytes(array.dtype) == entry.end - entry.begin,
          "values of the range");
      require(entry.begin == read, "ranges one after the other");
      read = entry.end;
      find_non_finite(array);
    }
    require(read < static_cast<Index>(bytes_of_file.size()), "no more than the file holds");
  });
}
