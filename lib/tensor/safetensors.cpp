#include "tensor/safetensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "tensor/safetensors_header.hpp"

namespace swa {
namespace {

constexpr Index kLengthBytes = 8;
const std::string kSaveAgain = "save the file again";

// The length of the header.
Index read_length(const Source& source) {
  constexpr std::uint64_t kLongest = 100'000'000;  // of the format
  if (source.size() < kLengthBytes) {
    source.refuse("that is not a safetensors file: it has less than 8 bytes", kSaveAgain);
  }
  std::array<std::uint8_t, kLengthBytes> bytes{};
  source.read(0, std::as_writable_bytes(std::span(bytes)));
  std::uint64_t length = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) length = length << 8 | bytes[i];
  if (length > kLongest) {
    source.refuse(
        fmt::format("the header is said to have {} bytes, more than {}", length, kLongest),
        "look whether that is a safetensors file");
  }
  const Index follow = source.size() - kLengthBytes;
  if (static_cast<Index>(length) > follow) {
    source.refuse(fmt::format("the header is said to have {} bytes, and {} follow", length, follow),
                  "save or copy it again");
  }
  return static_cast<Index>(length);
}

// The entries are in the order of their bytes.
void require_cover(const Source& source, const std::vector<SafetensorsFile::Entry>& entries,
                   Index data_bytes) {
  Index covered = 0;
  for (const auto& entry : entries) {
    if (entry.begin != covered) {
      source.refuse(fmt::format("tensor {} begins at byte {} of the data, which {} byte {}",
                                quote(entry.name), entry.begin,
                                entry.begin < covered ? "overlaps what ends at"
                                                      : "leaves a hole behind what ends at",
                                covered),
                    kSaveAgain);
    }
    covered = entry.end;
  }
  if (covered != data_bytes) {
    source.refuse(fmt::format("{} bytes at the end belong to no tensor", data_bytes - covered),
                  kSaveAgain);
  }
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : SafetensorsFile(Source(path)) {}

SafetensorsFile::SafetensorsFile(Source source) : source_(std::move(source)) {
  const Index length = read_length(source_);
  data_ = kLengthBytes + length;
  const Index data_bytes = source_.size() - data_;
  SafetensorsHeader header =
      parse_safetensors_header(source_, source_.text(kLengthBytes, length), data_bytes);
  entries_ = std::move(header.entries);
  metadata_ = std::move(header.metadata);
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  require_cover(source_, entries_, data_bytes);
}

Array SafetensorsFile::read(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  if (found == entries_.end()) {
    constexpr std::size_t kMost = 8;
    std::vector<std::string> names;
    for (const Entry& entry : std::span(entries_).first(std::min(entries_.size(), kMost))) {
      names.push_back(quote(entry.name));
    }
    source_.refuse(
        fmt::format("it has no tensor {}", quote(name)),
        fmt::format("it has {}{}", names.empty() ? "none at all" : "", fmt::join(names, ", ")) +
            (entries_.size() > kMost ? " and others" : ""));
  }
  return read(*found);
}

Array SafetensorsFile::read(const Entry& entry) const {
  return source_.array(data_ + entry.begin, entry.dtype, entry.shape);
}

std::vector<NamedArray> read_safetensors(const std::string& path) {
  const SafetensorsFile file(path);
  std::vector<NamedArray> arrays;
  for (const auto& entry : file.entries()) arrays.push_back({entry.name, file.read(entry)});
  return arrays;
}

}  // namespace swa
