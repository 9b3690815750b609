#include "tensor/safetensors_header.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <unordered_set>
#include <utility>

namespace swa {
namespace {

using Json = nlohmann::json;

const std::string kSaveAgain = "save the file again";

constexpr std::array<std::pair<std::string_view, Dtype>, 6> kDtypes = {{
    {"F64", Dtype::fp64},
    {"F32", Dtype::fp32},
    {"F16", Dtype::fp16},
    {"BF16", Dtype::bf16},
    {"F8_E4M3", Dtype::fp8_e4m3},
    {"F8_E5M2", Dtype::fp8_e5m2},
}};

// Takes the parser's events one by one. Nothing is nested deeper than an array within an entry, so
// whatever else a file nests is refused where it begins.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  HeaderReader(const Source& source, Index data_bytes) : source_(source), data_bytes_(data_bytes) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool start_object(std::size_t) override {
    if (place_ == Place::outside) {
      place_ = Place::root;
    } else if (place_ == Place::root) {
      place_ = name_ == kMetadataKey ? Place::metadata : Place::tensor;
      words_.clear();
      fields_ = {};
    } else {
      refuse_value();
    }
    return true;
  }

  bool key(std::string& key) override {
    auto& seen = place_ == Place::root ? names_ : words_;
    word_ = key;
    if (place_ == Place::root) name_ = key;
    if (!seen.insert(key).second) {
      refuse(place_ == Place::root ? "stands twice in the header"
                                   : fmt::format("has {} twice", quote(key)));
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) finish_tensor();
    place_ = place_ == Place::root ? Place::outside : Place::root;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ == Place::tensor && word_ == "shape") {
      fields_.shape.emplace();
      place_ = Place::shape;
    } else if (place_ == Place::tensor && word_ == "data_offsets") {
      fields_.range.emplace();
      place_ = Place::range;
    } else {
      refuse_value();
    }
    return true;
  }

  bool end_array() override {
    place_ = Place::tensor;
    return true;
  }

  bool string(std::string& text) override {
    if (place_ == Place::metadata) {
      header_.metadata.emplace(word_, text);
    } else if (place_ == Place::tensor && word_ == "dtype") {
      read_dtype(text);
    } else {
      refuse_value();
    }
    return true;
  }

  bool number_unsigned(std::uint64_t number) override {
    if (place_ == Place::shape) {
      if (fields_.shape->size() == kMaxAxes) {
        refuse(fmt::format("has more than {} axes", kMaxAxes));
      }
      const auto most = static_cast<std::uint64_t>(kMaxIndex) + 1;  // element_count() refuses it
      fields_.shape->push_back(static_cast<Index>(std::min(number, most)));
    } else if (place_ == Place::range) {
      if (fields_.range->size() == 2) refuse("has more than two 'data_offsets'");
      fields_.range->push_back(number);
    } else {
      refuse_value();
    }
    return true;
  }

  bool null() override { refuse_value(); }
  bool boolean(bool) override { refuse_value(); }
  bool number_integer(std::int64_t) override { refuse_value(); }
  bool number_float(double, const std::string&) override { refuse_value(); }
  bool binary(Json::binary_t&) override { refuse_value(); }

  // The parser's own sentence may quote all of a header that is large.
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    source_.refuse(fmt::format("the header is not JSON, at byte {} of it", position), kSaveAgain);
  }

 private:
  enum class Place { outside, root, metadata, tensor, shape, range };
  struct Fields {
    std::optional<Dtype> dtype;
    std::optional<std::vector<Index>> shape;
    std::optional<std::vector<std::uint64_t>> range;
  };

  [[noreturn]] void refuse(std::string_view why, const std::string& remedy = kSaveAgain) const {
    source_.refuse(name_ == kMetadataKey ? fmt::format("{} {}", name_, why)
                                         : fmt::format("tensor {} {}", quote(name_), why),
                   remedy);
  }

  [[noreturn]] void refuse_value() const {
    if (place_ == Place::root) refuse("is no object");
    if (place_ == Place::metadata) {
      refuse(fmt::format("has a value at {} that is no string", quote(word_)));
    }
    const bool known = word_ == "dtype" || word_ == "shape" || word_ == "data_offsets";
    if (!known) refuse(fmt::format("has {}, which the format does not know", quote(word_)));
    refuse(fmt::format("has another '{}' than {}", word_,
                       word_ == "dtype" ? "a string" : "an array of whole numbers"));
  }

  void read_dtype(const std::string& word) {
    for (const auto& [name, dtype] : kDtypes) {
      if (name == word) fields_.dtype = dtype;
    }
    if (fields_.dtype) return;
    refuse(fmt::format("is of dtype {}, not F64, F32, F16, BF16, F8_E4M3 or F8_E5M2", quote(word)),
           "save it in one of these, and apart from tensors of other types");
  }

  void finish_tensor() {
    if (!fields_.dtype || !fields_.shape || !fields_.range || fields_.range->size() != 2) {
      refuse("lacks its 'dtype', 'shape' or two 'data_offsets'");
    }
    const auto count = element_count(*fields_.shape);
    if (!count) refuse("has a shape whose lengths multiply to more than 2^60");
    const std::uint64_t begin = (*fields_.range)[0], end = (*fields_.range)[1];
    if (begin > end || end > static_cast<std::uint64_t>(data_bytes_)) {
      refuse(fmt::format("is said to fill bytes {} to {} of the {} that follow the header", begin,
                         end, data_bytes_));
    }
    const auto wanted =
        static_cast<std::uint64_t>(*count) * static_cast<std::uint64_t>(bytes(*fields_.dtype));
    if (end - begin != wanted) {
      refuse(fmt::format("has {} bytes, and its shape {} in {} takes {}", end - begin,
                         describe(*fields_.shape), safetensors_name(*fields_.dtype), wanted));
    }
    header_.entries.push_back({name_, *fields_.dtype, std::move(*fields_.shape),
                               static_cast<Index>(begin), static_cast<Index>(end)});
  }

  const Source& source_;
  Index data_bytes_;
  SafetensorsHeader header_;
  Place place_ = Place::outside;
  std::unordered_set<std::string> names_, words_;  // keys of the root, and of the object within
  std::string name_, word_;                        // the last of each
  Fields fields_;
};

}  // namespace

std::string_view safetensors_name(Dtype dtype) {
  for (const auto& [name, known] : kDtypes) {
    if (known == dtype) return name;
  }
  return {};
}

SafetensorsHeader parse_safetensors_header(const Source& source, const std::string& text,
                                           Index data_bytes) {
  // To the parser a zero byte is the end.
  if (!text.starts_with('{') || text.find('\0') != std::string::npos) {
    source.refuse("the header is not JSON that begins with '{'", kSaveAgain);
  }
  HeaderReader reader(source, data_bytes);
  Json::sax_parse(text, &reader);
  return reader.take();
}

}  // namespace swa
