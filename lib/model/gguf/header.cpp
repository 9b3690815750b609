#include "model/gguf/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace swa {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMagic = "GGUF";
constexpr std::uint64_t kLongestKey = 65535;        // bytes, as the format says
constexpr std::uint64_t kLongestText = 4096;        // bytes of a string that is kept
constexpr std::uint64_t kMostElements = 16384;      // of an array that is kept
constexpr Index kLongestHeader = Index{256} << 20;  // a real one has some 10 MiB, nearly all tokens
constexpr std::uint64_t kMostKept = 16u << 20;  // bytes of keys and values; a real one has few KiB

const std::string kDownloadAgain = "download or convert the file again";

// The types of values, by number; a string and an array begin with their length.
constexpr std::array<std::string_view, 13> kTypes = {
    "uint8", "int8",   "uint16", "int16",  "uint32", "int32",  "float32",
    "bool",  "string", "array",  "uint64", "int64",  "float64"};
constexpr std::array<Index, 13> kBytes = {1, 1, 2, 2, 4, 4, 4, 1, 8, 8, 8, 8, 8};
constexpr std::uint32_t kFloat32 = 6, kBool = 7, kString = 8, kArray = 9, kFloat64 = 12;

bool is_utf8(const std::string& text) {
  try {
    return !Json(text).dump().empty();
  } catch (const Json::type_error&) {
    return false;
  }
}

bool is_printable(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return ' ' <= c && c <= '~'; });
}

// The bytes of a source from first to last, block by block.
class Bytes {
 public:
  explicit Bytes(const Source& source) : source_(source) {}

  Index at() const { return at_; }
  Index left() const { return source_.size() - at_; }
  // What is being read, for complaints, such as "'a.b' at byte 24".
  std::string subject = "the header";

  [[noreturn]] void refuse(const std::string& why) const {
    source_.refuse(fmt::format("{} {}", subject, why), kDownloadAgain);
  }

  void skip(std::uint64_t count) {
    require(count);
    at_ += static_cast<Index>(count);
  }

  std::string text(std::uint64_t count) {
    require(count);
    const std::string text = source_.text(at_, static_cast<Index>(count));
    at_ += static_cast<Index>(count);
    return text;
  }

  // A little-endian number of at most 8 bytes.
  std::uint64_t number(Index bytes) {
    require(static_cast<std::uint64_t>(bytes));
    if (at_ + bytes > begin_ + static_cast<Index>(block_.size())) {
      begin_ = at_;
      block_.resize(static_cast<std::size_t>(smaller(left(), kBlock)));
      source_.read(begin_, block_);
    }
    std::uint64_t number = 0;
    for (Index i = bytes; i-- > 0;) {
      const auto byte = block_[static_cast<std::size_t>(at_ - begin_ + i)];
      number = number << 8 | std::to_integer<std::uint64_t>(byte);
    }
    at_ += bytes;
    return number;
  }

 private:
  static constexpr Index kBlock = 1 << 16;

  void require(std::uint64_t count) const {
    if (count > static_cast<std::uint64_t>(left())) {
      refuse(fmt::format("needs {} bytes from byte {} on, and the file has {} bytes", count, at_,
                         source_.size()));
    }
    if (static_cast<Index>(count) > kLongestHeader - at_) {
      refuse(fmt::format("goes past byte {}, where no header is still going on", kLongestHeader));
    }
  }

  const Source& source_;
  Index at_ = 0, begin_ = 0;  // of what is read next, and of the block
  std::vector<std::byte> block_;
};

class HeaderReader {
 public:
  explicit HeaderReader(const Source& source) : source_(source), bytes_(source) {}

  GgufHeader read() {
    constexpr Index kFixed = 24;
    constexpr std::uint64_t kShortestPair = 8 + 1 + 4 + 1;
    if (source_.size() < kFixed || source_.text(0, kMagic.size()) != kMagic) {
      source_.refuse("that is not a GGUF file", "give a file whose first bytes are GGUF");
    }
    bytes_.skip(kMagic.size());
    check_version(static_cast<std::uint32_t>(bytes_.number(4)));
    bytes_.skip(8);  // how many tensors there are
    const std::uint64_t pairs = bytes_.number(8);
    if (pairs > static_cast<std::uint64_t>(bytes_.left()) / kShortestPair) {
      bytes_.refuse(fmt::format("promises {} keys, more than fit into the file's {} bytes", pairs,
                                source_.size()));
    }
    for (std::uint64_t i = 0; i < pairs; ++i) read_pair(i);
    return std::move(header_);
  }

 private:
  void check_version(std::uint32_t version) const {
    if (version == 2 || version == 3) return;
    if (version == 1) {
      source_.refuse("version 1 of GGUF is not read, only 2 and 3", "convert the model again");
    }
    if ((version & 0xffff) == 0 && version != 0) {
      source_.refuse("the file is big-endian",
                     "convert it with gguf_convert_endian.py of llama.cpp");
    }
    source_.refuse(fmt::format("version {} of GGUF is not known, only 2 and 3", version),
                   kDownloadAgain);
  }

  void read_pair(std::uint64_t index) {
    const Index begin = bytes_.at();
    bytes_.subject = fmt::format("key {} at byte {}", index + 1, begin);
    const std::uint64_t length = bytes_.number(8);
    if (length == 0 || length > kLongestKey) {
      bytes_.refuse(fmt::format("has a name of {} bytes, not of 1 to {}", length, kLongestKey));
    }
    const std::string key = bytes_.text(length);
    if (!is_printable(key)) bytes_.refuse("has a name with other bytes than printable ASCII");
    bytes_.subject = fmt::format("{} at byte {}", quote(key), begin);
    if (header_.count(key) > 0) bytes_.refuse("stands in the header for the second time");
    keep(64 + key.size());
    header_[key] = read_value(read_type());
  }

  // Counts what the header takes in memory, so that a file cannot ask for all there is.
  void keep(std::uint64_t bytes) {
    kept_ += bytes;
    if (kept_ > kMostKept) {
      bytes_.refuse(fmt::format("brings the keys and their values past {} bytes", kMostKept));
    }
  }

  std::uint32_t read_type() {
    const auto type = static_cast<std::uint32_t>(bytes_.number(4));
    if (type >= kTypes.size()) {
      bytes_.refuse(fmt::format("is of type {}, which the format does not know", type));
    }
    return type;
  }

  GgufValue read_value(std::uint32_t type) {
    if (type == kArray) return read_array();
    return {std::string(kTypes[type]), type == kString ? read_text() : read_scalar(type)};
  }

  Json read_text() {
    const std::uint64_t length = bytes_.number(8);
    if (length > kLongestText) {
      bytes_.skip(length);
      return nullptr;
    }
    keep(length);
    const std::string text = bytes_.text(length);
    if (!is_utf8(text)) bytes_.refuse("is a string that is not UTF-8");
    return text;
  }

  Json read_scalar(std::uint32_t type) {
    const Index size = kBytes[type];
    const std::uint64_t bits = bytes_.number(size);
    if (type == kFloat32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (type == kFloat64) return std::bit_cast<double>(bits);
    if (type == kBool) {
      if (bits > 1) bytes_.refuse(fmt::format("is a boolean of value {}", bits));
      return bits == 1;
    }
    if (!kTypes[type].starts_with("int")) return bits;  // unsigned
    const Index unused = 64 - 8 * size;
    return static_cast<std::int64_t>(bits << unused) >> unused;
  }

  GgufValue read_array() {
    const std::uint32_t type = read_type();
    if (type == kArray) bytes_.refuse("is an array of arrays");
    const std::uint64_t count = bytes_.number(8);
    const Index size = kBytes[type];  // of a string at least
    if (count > static_cast<std::uint64_t>(bytes_.left() / size)) {
      bytes_.refuse(fmt::format("promises {} elements, more than fit into the file's {} bytes",
                                count, source_.size()));
    }
    GgufValue array{fmt::format("array of {} {}", count, kTypes[type]), nullptr};
    if (type == kString) {
      for (std::uint64_t i = 0; i < count; ++i) bytes_.skip(bytes_.number(8));
    } else if (count > kMostElements) {
      bytes_.skip(count * static_cast<std::uint64_t>(size));
    } else {
      keep(count * sizeof(Json));
      array.value = Json::array();
      for (std::uint64_t i = 0; i < count; ++i) array.value.push_back(read_scalar(type));
    }
    return array;
  }

  const Source& source_;
  Bytes bytes_;
  GgufHeader header_;
  std::uint64_t kept_ = 0;
};

}  // namespace

GgufHeader read_gguf_header(const Source& source) {
  return HeaderReader(source).read();
}

}  // namespace swa
