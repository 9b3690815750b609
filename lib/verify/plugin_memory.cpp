#include "verify/plugin_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "error.hpp"
#include "verify/plugin_wire.hpp"

namespace swa {
namespace {

constexpr std::byte kGuard{0xa5};

std::size_t whole_pages(std::size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

CannotRun no_memory() {
  return CannotRun("there is not enough memory to share with a plug-in",
                   "ask for a smaller problem, or run it on a larger machine");
}

// Bytes of the band that lie between the region and the farthest one that was changed, that one
// included. `step` leads away from the region.
std::size_t reach(const std::byte* nearest, std::ptrdiff_t step) {
  for (std::size_t i = kGuardBytes; i > 0; --i) {
    if (nearest[step * static_cast<std::ptrdiff_t>(i - 1)] != kGuard) return i;
  }
  return 0;
}

std::string distance(const GuardedRegions::Region& region, std::size_t bytes, const char* where) {
  const std::size_t elements = (bytes + region.element - 1) / region.element;
  return fmt::format("{}, as far as {} {}{} {}", region.name, elements,
                     elements == 1 ? "element" : "elements", bytes == kGuardBytes ? " or more" : "",
                     where);
}

}  // namespace

Descriptor::~Descriptor() {
  reset(-1);
}

void Descriptor::reset(int number) {
  if (number_ >= 0) close(number_);
  number_ = number;
  if (number < 0 || number > STDERR_FILENO) return;
  number_ = fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(number);
}

SharedMemory::SharedMemory() : file_(memfd_create("swa plug-in", MFD_CLOEXEC)) {
  if (file_.number() < 0) throw no_memory();
  grow(kPage);
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

void SharedMemory::grow(std::size_t bytes) {
  bytes = whole_pages(bytes);
  if (bytes <= bytes_) return;
  // Taken now: a page that is missing later would end the process that touches it.
  if (posix_fallocate(file_.number(), 0, static_cast<off_t>(bytes)) != 0) throw no_memory();
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), 0);
  if (at == MAP_FAILED) throw no_memory();
  if (data_ != nullptr) munmap(data_, bytes_);
  data_ = static_cast<std::byte*>(at);
  bytes_ = bytes;
}

GuardedRegions::GuardedRegions() : end_(kPage) {}

std::size_t GuardedRegions::add(std::string_view name, std::size_t bytes, std::size_t element) {
  const std::size_t begin = end_ + kGuardBytes;
  regions_.push_back({name, begin, bytes, element});
  end_ = whole_pages(begin + bytes + kGuardBytes);
  return begin;
}

void GuardedRegions::fill_guards(std::byte* data) const {
  for (const Region& region : regions_) {
    std::fill_n(data + region.begin - kGuardBytes, kGuardBytes, kGuard);
    std::fill_n(data + region.begin + region.bytes, kGuardBytes, kGuard);
  }
}

std::optional<std::string> GuardedRegions::overrun(const std::byte* data) const {
  for (const Region& region : regions_) {
    const std::byte* const begin = data + region.begin;
    const std::byte* const end = begin + region.bytes;
    if (const std::size_t bytes = reach(end, 1); bytes > 0) {
      return distance(region, bytes, "past its end");
    }
    if (const std::size_t bytes = reach(begin - 1, -1); bytes > 0) {
      return distance(region, bytes, "before its beginning");
    }
  }
  return std::nullopt;
}

}  // namespace swa
