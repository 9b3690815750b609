// Memory on the device that ends with its owner.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

namespace swa::device {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t bytes);  // throws CannotRun where the device has not as many left
  explicit Buffer(std::span<const std::byte> contents);
  ~Buffer();
  Buffer(Buffer&& other) noexcept
      : pointer_(std::exchange(other.pointer_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(pointer_, other.pointer_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  void* get() const { return pointer_; }
  std::size_t bytes() const { return bytes_; }
  // As many bytes as the span has, from the buffer's first.
  void upload(std::span<const std::byte> from);
  void download(std::span<std::byte> to) const;

 private:
  void* pointer_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace swa::device
