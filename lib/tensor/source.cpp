#include "tensor/source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "error.hpp"
#include "memory.hpp"
#include "tensor/bits.hpp"

namespace swa {

Source::Source(const std::string& path) : name_(path.substr(0, path.find('\0'))) {
  const std::string remedy = "give the name of a file that can be read";
  if (name_ != path) refuse("the name holds a zero byte", remedy);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) refuse(std::strerror(errno), remedy);
  struct stat facts {};
  const bool known = fstat(descriptor, &facts) == 0;
  if (!known || !S_ISREG(facts.st_mode)) {
    close(descriptor);
    refuse(known && S_ISDIR(facts.st_mode) ? "that is a folder" : "that is not a plain file",
           remedy);
  }
  descriptor_ = descriptor;
  size_ = facts.st_size;
}

Source::Source(const std::string& name, std::span<const std::byte> bytes)
    : name_(name), bytes_(bytes), size_(static_cast<Index>(bytes.size())) {}

Source::~Source() {
  if (descriptor_ >= 0) close(descriptor_);
}

Source::Source(Source&& other) noexcept
    : name_(std::move(other.name_)),
      bytes_(other.bytes_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

void Source::read(Index offset, std::span<std::byte> into) const {
  const Index count = static_cast<Index>(into.size());
  if (offset < 0 || offset > size_ || count > size_ - offset) {
    throw std::out_of_range("bytes beyond the end were asked for");
  }
  if (descriptor_ < 0) {
    const auto part = bytes_.subspan(static_cast<std::size_t>(offset), into.size());
    std::copy(part.begin(), part.end(), into.begin());
    return;
  }
  while (!into.empty()) {
    const ssize_t got = pread(descriptor_, into.data(), into.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      throw CannotRun(fmt::format("{} could not be read: {}", name_,
                                  got < 0 ? std::strerror(errno) : "it has become shorter"),
                      "leave the file alone while it is read");
    }
    into = into.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
}

std::string Source::text(Index offset, Index count) const {
  std::string text(static_cast<std::size_t>(count), '\0');
  read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

Array Source::array(Index offset, Dtype dtype, std::vector<Index> shape) const {
  // So much fits anywhere, and asking what does takes longer than to read it.
  constexpr double kModest = 1 << 24;
  constexpr Index kBlock = 1 << 13;  // elements
  const auto count = element_count(shape);
  if (!count) throw std::invalid_argument("a shape has no count of elements");
  const double memory = static_cast<double>(*count) * sizeof(double);
  if (memory > kModest) require_memory(memory, fmt::format("an array of {}", name_));

  Array array{std::move(shape), dtype, std::vector<double>(static_cast<std::size_t>(*count))};
  std::vector<std::byte> block(static_cast<std::size_t>(std::min(*count, kBlock) * bytes(dtype)));
  std::span<double> rest = array.values;
  while (!rest.empty()) {
    const std::size_t elements = std::min(rest.size(), static_cast<std::size_t>(kBlock));
    const auto encoded = std::span(block).first(elements * static_cast<std::size_t>(bytes(dtype)));
    read(offset, encoded);
    decode(dtype, encoded, rest.first(elements));
    rest = rest.subspan(elements);
    offset += static_cast<Index>(encoded.size());
  }
  return array;
}

void Source::refuse(std::string_view why, const std::string& remedy) const {
  throw UsageError(fmt::format("{}: {}", name_, why), remedy);
}

std::string quote(std::string_view text) {
  constexpr std::size_t kMost = 60;
  std::string quoted(text.substr(0, kMost));
  std::replace_if(
      quoted.begin(), quoted.end(), [](char c) { return 0 <= c && c < ' '; }, '?');
  return fmt::format("'{}{}'", quoted, text.size() > kMost ? "..." : "");
}

}  // namespace swa
