// Bytes of files that stand in a test, and what a reader says of them.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "error.hpp"

namespace swa::test {

inline std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// The sentence with which the call refuses what the user gave; it comes with a remedy. Empty where
// it does not refuse.
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const UsageError& error) {
    CHECK_FALSE(error.remedy().empty());
    return error.what();
  }
  return {};
}

}  // namespace swa::test
