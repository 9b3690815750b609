#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <stdexcept>

#include "error.hpp"
#include "tensor/safetensors.hpp"
#include "tensor/safetensors_header.hpp"
#include "tensor/write_values.hpp"

namespace swa {
namespace {

// As a JSON string.
std::string json(const std::string& path, const std::string& text) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    throw UsageError(fmt::format("{}: {} is not UTF-8 and cannot be written", path, quote(text)),
                     "name it in UTF-8");
  }
}

// Of arrays in the order of their bytes; padded to whole words of 8 bytes.
std::string header_of(const std::string& path, const std::vector<const NamedArray*>& arrays,
                      const Metadata& metadata) {
  std::vector<std::string> words, entries;
  for (const auto& [key, value] : metadata) {
    words.push_back(fmt::format("{}:{}", json(path, key), json(path, value)));
  }
  if (!words.empty()) {
    entries.push_back(fmt::format("\"{}\":{{{}}}", kMetadataKey, fmt::join(words, ",")));
  }
  std::uint64_t begin = 0;
  for (const NamedArray* named : arrays) {
    const auto& [shape, dtype, values] = named->array;
    const std::uint64_t end = begin + values.size() * static_cast<std::size_t>(bytes(dtype));
    entries.push_back(fmt::format("{}:{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                                  json(path, named->name), safetensors_name(dtype),
                                  fmt::join(shape, ","), begin, end));
    begin = end;
  }
  std::string text = fmt::format("{{{}}}", fmt::join(entries, ","));
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string length;
  for (int bit = 0; bit < 64; bit += 8) length.push_back(static_cast<char>(text.size() >> bit));
  return length + text;
}

}  // namespace

void write_safetensors(const std::string& path, const std::vector<NamedArray>& arrays,
                       const Metadata& metadata) {
  std::set<std::string_view> names{kMetadataKey};
  std::vector<const NamedArray*> ordered;
  for (const NamedArray& named : arrays) {
    require_whole(named.array);
    if (!names.insert(named.name).second) throw std::invalid_argument("a name stands twice");
    ordered.push_back(&named);
  }
  std::stable_sort(ordered.begin(), ordered.end(), [](const NamedArray* a, const NamedArray* b) {
    return bytes(a->array.dtype) > bytes(b->array.dtype);
  });
  const std::string header = header_of(path, ordered, metadata);
  write_file(path, [&](PendingFile& file) {
    file.write(std::as_bytes(std::span(header)));
    for (const NamedArray* named : ordered) write_values(file, named->array, named->array.dtype);
  });
}

}  // namespace swa
