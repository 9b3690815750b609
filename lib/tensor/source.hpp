// The bytes that a reader of tensors reads: a file's, or some in memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/array.hpp"

namespace swa {

class Source {
 public:
  // Opens a plain file; of it only what is asked for is read. Throws UsageError for what is none
  // (it does not wait for the other end of a pipe) or cannot be opened.
  explicit Source(const std::string& path);
  // Bytes that outlive the source, under the name that complaints call them.
  Source(const std::string& name, std::span<const std::byte> bytes);
  ~Source();
  Source(Source&& other) noexcept;
  Source& operator=(Source&&) = delete;

  const std::string& name() const { return name_; }
  Index size() const { return size_; }

  // Fills `into` with what begins at an offset; all of it lies within size(). Throws CannotRun
  // where a file cannot be read, or has become shorter.
  void read(Index offset, std::span<std::byte> into) const;
  std::string text(Index offset, Index count) const;
  // An array whose elements, element_count(shape) of them, begin at an offset. Throws CannotRun
  // where it does not fit into memory.
  Array array(Index offset, Dtype dtype, std::vector<Index> shape) const;

  // Throws UsageError "NAME: WHY".
  [[noreturn]] void refuse(std::string_view why, const std::string& remedy) const;

 private:
  std::string name_;
  std::span<const std::byte> bytes_;
  int descriptor_ = -1;  // of a file
  Index size_ = 0;
};

// At most 60 bytes of what a file holds, between quotes, for a sentence about it; control
// characters become question marks, since a zero byte would end the sentence.
std::string quote(std::string_view text);

}  // namespace swa
