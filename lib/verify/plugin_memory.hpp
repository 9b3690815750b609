// The memory that swa shares with the process of a plug-in, and guard bands around what lies in it.
// Private to this room.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace swa {

// Closes a file descriptor at its end. It holds another number than it was given where that was one
// of stdin, stdout and stderr, which were closed then: what is printed would go into it.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) { reset(number); }
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  void reset(int number);  // closes what it held

 private:
  int number_ = -1;
};

// Memory that this process and the plug-in's share; the first page is a FirstPage.
class SharedMemory {
 public:
  SharedMemory();
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  // Never shrinks. What it held is kept, at another address. Throws CannotRun for want of memory.
  void grow(std::size_t bytes);
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  int descriptor() const { return file_.number(); }

 private:
  Descriptor file_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Bytes of a guard band: a tile of 128 rows of 128 fp32 elements that is written too far.
inline constexpr std::size_t kGuardBytes = std::size_t{64} << 10;

// A plan of regions in shared memory: each begins at a page, with a guard band before and behind
// it.
class GuardedRegions {
 public:
  GuardedRegions();

  struct Region {
    std::string_view name;
    std::size_t begin, bytes;
    std::size_t element;  // bytes of one
  };

  // The offset of a new region; the first page is left out.
  std::size_t add(std::string_view name, std::size_t bytes, std::size_t element);
  std::size_t end() const { return end_; }

  void fill_guards(std::byte* data) const;
  // "out, as far as 12 elements past its end", where a guard band is not as it was filled.
  std::optional<std::string> overrun(const std::byte* data) const;

 private:
  std::vector<Region> regions_;
  std::size_t end_;
};

}  // namespace swa
