// Writes the head of a GGUF file: key-value pairs, and no tensors.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace swa::test {

inline std::string little_endian(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(number >> 8 * i & 0xff));
  return text;
}

class Gguf {
 public:
  enum Type : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, flag, text, array, u64, i64, f64 };

  explicit Gguf(const std::string& architecture = {}) {
    if (!architecture.empty()) add("general.architecture", architecture);
  }

  Gguf& add(const std::string& key, Type type, const std::string& bytes) {
    pairs_ += sized(key) + little_endian(type, 4) + bytes;
    ++count_;
    return *this;
  }
  Gguf& add(const std::string& key, std::uint32_t number) {
    return add(key, u32, little_endian(number, 4));
  }
  Gguf& add(const std::string& key, float number) {
    return add(key, f32, little_endian(std::bit_cast<std::uint32_t>(number), 4));
  }
  Gguf& add(const std::string& key, const std::string& words) {
    return add(key, text, sized(words));
  }
  Gguf& add(const std::string& key, const std::vector<std::int32_t>& numbers) {
    std::string bytes = little_endian(i32, 4) + little_endian(numbers.size(), 8);
    for (const std::int32_t number : numbers) {
      bytes += little_endian(static_cast<std::uint32_t>(number), 4);
    }
    return add(key, array, bytes);
  }
  Gguf& add(const std::string& key, const std::vector<bool>& flags) {
    std::string bytes = little_endian(flag, 4) + little_endian(flags.size(), 8);
    for (const bool value : flags) bytes.push_back(value ? '\1' : '\0');
    return add(key, array, bytes);
  }
  Gguf& add(const std::string& key, const std::vector<std::string>& words) {
    std::string bytes = little_endian(text, 4) + little_endian(words.size(), 8);
    for (const std::string& word : words) bytes += sized(word);
    return add(key, array, bytes);
  }

  std::string bytes(std::uint32_t version = 3) const { return head(version, count_) + pairs_; }
  static std::string head(std::uint32_t version, std::uint64_t pairs) {
    return "GGUF" + little_endian(version, 4) + little_endian(0, 8) + little_endian(pairs, 8);
  }
  static std::string sized(const std::string& words) {
    return little_endian(words.size(), 8) + words;
  }

 private:
  std::string pairs_;
  std::uint64_t count_ = 0;
};

}  // namespace swa::test
