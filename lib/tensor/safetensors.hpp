// Files of the safetensors format: named arrays, and words about them.
//
// A file is the length N of its header (8 bytes, little-endian), N bytes of JSON that begin with
// '{' and may end in blanks, and the elements. The header names each array, its dtype (here F64,
// F32, F16, BF16, F8_E4M3 or F8_E5M2), its shape and its range of bytes, counted from the end of
// the header; the ranges cover what follows it without holes or overlaps. "__metadata__" maps
// words to words.
// Source: the README of huggingface/safetensors, section "Format".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/array.hpp"
#include "tensor/source.hpp"

namespace swa {

using Metadata = std::map<std::string, std::string>;

class SafetensorsFile {
 public:
  struct Entry {
    std::string name;
    Dtype dtype = Dtype::fp64;
    std::vector<Index> shape;
    Index begin = 0, end = 0;  // bytes of the file's data
  };

  // Reads the header. Throw UsageError for what breaks any rule of the format, has a dtype not
  // named above, or a tensor that element_count() does not know.
  explicit SafetensorsFile(const std::string& path);
  explicit SafetensorsFile(Source source);

  const std::vector<Entry>& entries() const { return entries_; }  // in the order of their bytes
  const Metadata& metadata() const { return metadata_; }

  // Reads one array and no other. Throws UsageError where the file has none of the name, CannotRun
  // where it does not fit into memory. NaN and infinities are read.
  Array read(std::string_view name) const;
  Array read(const Entry& entry) const;  // one of entries()

 private:
  Source source_;
  Index data_ = 0;  // where the header ends
  std::vector<Entry> entries_;
  Metadata metadata_;
};

struct NamedArray {
  std::string name;
  Array array;
};

// All arrays of a file, in the order of their bytes.
std::vector<NamedArray> read_safetensors(const std::string& path);

// Values are rounded to the dtype of their array. Wider elements stand before narrower ones, so
// that all are aligned. Throws UsageError for a text that is not UTF-8, std::invalid_argument for a
// name given twice or "__metadata__", and as write_file() does; an older file stays as it was then.
void write_safetensors(const std::string& path, const std::vector<NamedArray>& arrays,
                       const Metadata& metadata = {});

}  // namespace swa
