#include "tensor/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "tensor/npy_header.hpp"
#include "tensor/write_values.hpp"

namespace swa {
namespace {

// What a file holds numbers of the type in.
Dtype stored_as(Dtype dtype) {
  switch (dtype) {
    case Dtype::tf32:
    case Dtype::bf16:
      return Dtype::fp32;
    case Dtype::fp8_e4m3:
    case Dtype::fp8_e5m2:
      return Dtype::fp16;
    default:
      return dtype;
  }
}

// Magic, version, length and dict: a multiple of 64 bytes, as NumPy writes them.
std::string header_of(const Array& array) {
  constexpr std::size_t kAlignment = 64, kFixed = 10;
  const std::string dict =
      fmt::format("{{'descr': '<f{}', 'fortran_order': False, 'shape': ({}{}), }}",
                  bytes(stored_as(array.dtype)), fmt::join(array.shape, ", "),
                  array.shape.size() == 1 ? "," : "");
  const std::size_t blanks = kAlignment - 1 - (kFixed + dict.size()) % kAlignment;
  const std::size_t length = dict.size() + blanks + 1;
  std::string header = "\x93NUMPY\x01";
  header.push_back('\0');
  header.push_back(static_cast<char>(length & 0xff));
  header.push_back(static_cast<char>(length >> 8));
  return header + dict + std::string(blanks, ' ') + '\n';
}

}  // namespace

Array read_npy(const Source& source) {
  const NpyHeader header = read_npy_header(source);
  const Index count = element_count(header.shape).value();
  const auto held = static_cast<std::uint64_t>(source.size() - header.data);
  const auto wanted =
      static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(bytes(header.dtype));
  const std::string shape = describe(header.shape);
  if (held < wanted) {
    source.refuse(fmt::format("the file is cut off: {} elements of shape {} take {} bytes, and {} "
                              "follow the header",
                              count, shape, wanted, held),
                  "save or copy it again");
  }
  if (held > wanted) {
    source.refuse(
        fmt::format("{} bytes follow the {} elements of shape {}", held - wanted, count, shape),
        "save one array in a file");
  }
  return source.array(header.data, header.dtype, header.shape);
}

Array read_npy(const std::string& path) {
  return read_npy(Source(path));
}

void write_npy(const std::string& path, const Array& array) {
  require_whole(array);
  write_file(path, [&](PendingFile& file) {
    const std::string header = header_of(array);
    file.write(std::as_bytes(std::span(header)));
    write_values(file, array, stored_as(array.dtype));
  });
}

}  // namespace swa
