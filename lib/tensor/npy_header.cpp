#include "tensor/npy_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace swa {
namespace {

using namespace std::literals;

constexpr std::string_view kMagic = "\x93NUMPY";
const std::string kSaveAgain = "save the array again with numpy.save";

// The dict that NumPy writes, a Python literal:
//   {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }
// Keys may come in any order; between words there may be blanks.
class Dict {
 public:
  Dict(const Source& source, std::string_view text) : source_(source), text_(text) {}

  void read() {
    expect('{');
    while (!accept('}')) {
      read_entry();
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_blanks();
    if (at_ != text_.size()) fail("nothing more");
    if (!descr_ || !fortran_ || !shape_) {
      source_.refuse("the header lacks 'descr', 'fortran_order' or 'shape'", kSaveAgain);
    }
  }

  const std::string& descr() const { return *descr_; }
  bool fortran() const { return *fortran_; }
  const std::vector<Index>& shape() const { return *shape_; }

 private:
  [[noreturn]] void fail(std::string_view wanted) const {
    source_.refuse(
        fmt::format(
            "the header is not the dict that NumPy writes: at byte {} of it {} should stand", at_,
            wanted),
        kSaveAgain);
  }

  void skip_blanks() {
    while (at_ < text_.size() && " \t\n"sv.find(text_[at_]) != text_.npos) ++at_;
  }
  bool accept(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(quote({&wanted, 1}));
  }
  bool accept_word(std::string_view word) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  void read_entry() {
    const std::string key = read_string();
    expect(':');
    if (key == "descr" && !descr_) {
      descr_ = read_descr();
    } else if (key == "fortran_order" && !fortran_) {
      fortran_ = read_flag();
    } else if (key == "shape" && !shape_) {
      shape_ = read_shape();
    } else {
      source_.refuse(fmt::format("the header has a key {} too many", quote(key)), kSaveAgain);
    }
  }

  std::string read_string() {
    skip_blanks();
    if (at_ == text_.size() || "'\""sv.find(text_[at_]) == text_.npos) fail("a string");
    const std::size_t begin = at_ + 1, end = text_.find(text_[at_], begin);
    const std::string_view text = text_.substr(begin, end - begin);
    if (end == text_.npos || text.find_first_of("\\\n"sv) != text.npos) fail("a plain string");
    at_ = end + 1;
    return std::string(text);
  }

  std::string read_descr() {
    skip_blanks();
    if (text_.substr(at_).starts_with('[')) {
      source_.refuse("its elements have several fields", "save one of the fields: x['NAME']");
    }
    return read_string();
  }

  bool read_flag() {
    const bool flag = accept_word("True");
    if (!flag && !accept_word("False")) fail("True or False");
    return flag;
  }

  // A tuple; with one element a comma follows it.
  std::vector<Index> read_shape() {
    std::vector<Index> shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(read_length());
      if (accept(',')) continue;
      if (shape.size() == 1) fail("','");
      expect(')');
      break;
    }
    return shape;
  }

  Index read_length() {
    constexpr std::uint64_t kTooLong = kMaxIndex + 1;
    if (accept('-')) source_.refuse("the shape has a negative length", kSaveAgain);
    const std::size_t begin = at_;
    std::uint64_t length = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      const auto digit = static_cast<std::uint64_t>(text_[at_++] - '0');
      length = std::min(10 * length + digit, kTooLong);  // stays below 2^64
    }
    if (at_ == begin) fail("a length or ')'");
    return static_cast<Index>(length);
  }

  const Source& source_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::optional<std::string> descr_;
  std::optional<bool> fortran_;
  std::optional<std::vector<Index>> shape_;
};

Index little_endian(std::string_view bytes) {
  Index value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

Dtype read_dtype(const Source& source, const std::string& descr) {
  if (descr == "<f8") return Dtype::fp64;
  if (descr == "<f4") return Dtype::fp32;
  if (descr == "<f2") return Dtype::fp16;
  if (descr.starts_with('>')) {
    source.refuse(fmt::format("its elements, {}, are big-endian", quote(descr)),
                  "save it little-endian: x.astype('<f8')");
  }
  source.refuse(fmt::format("its elements are of type {}, not '<f8', '<f4' or '<f2'", quote(descr)),
                "save it in floating point: x.astype('<f8')");
}

}  // namespace

NpyHeader read_npy_header(const Source& source) {
  constexpr Index kFixed = 8;          // bytes of magic and version
  constexpr Index kLongest = 1 << 16;  // a real one has some 120 bytes
  if (source.size() < kFixed || source.text(0, kMagic.size()) != kMagic) {
    source.refuse("that is not a .npy file", kSaveAgain);
  }
  const std::string version = source.text(kMagic.size(), 2);
  if (version[0] < 1 || version[0] > 3 || version[1] != 0) {
    source.refuse(
        fmt::format("version {}.{} of the format is not known",
                    static_cast<unsigned char>(version[0]), static_cast<unsigned char>(version[1])),
        kSaveAgain);
  }
  const Index begin = kFixed + (version[0] == 1 ? 2 : 4);
  if (source.size() < begin) source.refuse("the file ends within its header", kSaveAgain);
  const Index length = little_endian(source.text(kFixed, begin - kFixed));
  if (length > source.size() - begin) source.refuse("the file ends within its header", kSaveAgain);
  if (length > kLongest) {
    source.refuse(fmt::format("the header has {} bytes, more than {}", length, kLongest),
                  kSaveAgain);
  }

  const std::string text = source.text(begin, length);
  Dict dict(source, text);
  dict.read();
  NpyHeader header{read_dtype(source, dict.descr()), dict.shape(), begin + length};
  if (dict.fortran()) {
    source.refuse("its elements stand in Fortran order", "save numpy.ascontiguousarray(x)");
  }
  if (header.shape.size() > kMaxAxes) {
    source.refuse(fmt::format("the shape has {} axes, more than {}", header.shape.size(), kMaxAxes),
                  kSaveAgain);
  }
  if (!element_count(header.shape)) {
    source.refuse("the lengths of the shape multiply to more than 2^60", kSaveAgain);
  }
  return header;
}

}  // namespace swa
