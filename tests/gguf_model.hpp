// Headers of GGUF files as tests write them, and what the model they describe is asked.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "budget/demand.hpp"
#include "bytes.hpp"
#include "gguf.hpp"
#include "model/gguf/read.hpp"

namespace swa::test {

// A header whose keys stand without the name of the architecture.
class GgufModel {
 public:
  explicit GgufModel(const std::string& architecture)
      : header_(architecture), prefix_(architecture + ".") {}

  template <class Value>
  GgufModel& add(const std::string& key, const Value& value) {
    header_.add(prefix_ + key, value);
    return *this;
  }
  GgufModel& whole(const std::string& key, const std::string& bytes) {
    header_.add(prefix_ + key, Gguf::u64, bytes);
    return *this;
  }
  ConfigReading read() const {
    const std::string bytes = header_.bytes();
    return model_from_gguf(read_gguf_header(Source("m.gguf", bytes_of(bytes))), "m.gguf");
  }
  std::string refusal() const {
    return test::refusal([&] { read(); });
  }
  std::string plan() const { return layer_plan(read().model); }

 private:
  Gguf header_;
  std::string prefix_;
};

// All layers alike, and twice as many heads for queries as for keys and values.
inline GgufModel uniform(const std::string& architecture, std::uint32_t layers, std::uint32_t heads,
                         std::uint32_t head_dim) {
  return GgufModel(architecture)
      .add("block_count", layers)
      .add("context_length", 131'072u)
      .add("embedding_length", 2048u)
      .add("attention.head_count", 2 * heads)
      .add("attention.head_count_kv", heads)
      .add("attention.key_length", head_dim)
      .add("attention.value_length", head_dim);
}

inline GgufModel windowed(const std::string& architecture, std::uint32_t layers,
                          std::uint32_t window) {
  return uniform(architecture, layers, 2, 64).add("attention.sliding_window", window);
}

inline std::string repeated(const std::string& pattern, std::size_t layers) {
  std::string plan;
  while (plan.size() < layers) plan += pattern;
  return plan.substr(0, layers);
}

inline std::vector<bool> flags(const std::string& plan) {
  std::vector<bool> local;
  for (const char kind : plan) local.push_back(kind == 'L');
  return local;
}

inline std::vector<std::int32_t> numbers(const std::string& plan, std::int32_t local,
                                         std::int32_t global) {
  std::vector<std::int32_t> each;
  for (const char kind : plan) each.push_back(kind == 'L' ? local : global);
  return each;
}

// Bytes at 2 an element: of all tokens, and of those in the window.
inline void check_bytes(const Model& model, Index every, Index in_window, Index window) {
  for (const Index context : {Index{1}, window - 1, window, window + 1, 10 * window}) {
    CAPTURE(context);
    CHECK(logical_bytes(model, {context, 1}) ==
          every * context + in_window * smaller(context, window));
  }
}

inline bool warns(const ConfigReading& reading, const std::string& words) {
  return std::any_of(
      reading.warnings.begin(), reading.warnings.end(),
      [&](const std::string& sentence) { return sentence.find(words) != sentence.npos; });
}

inline std::string origin(const ConfigReading& reading, const std::string& quantity) {
  for (const Origin& origin : reading.origins) {
    if (origin.quantity == quantity) return origin.value + " from " + origin.from;
  }
  return {};
}

}  // namespace swa::test
