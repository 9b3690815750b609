// The readers of files, with bytes that anybody may have written.
//
// Each target returns whether the bytes are a file that its reader takes. A reader refuses with
// UsageError or CannotRun; what else it throws, and whatever else goes wrong, ends the fuzzer.
#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>

#include "error.hpp"

namespace swa::fuzz {

using Bytes = std::span<const std::byte>;

bool npy(Bytes file);
bool safetensors(Bytes file);
bool cases(Bytes file);
bool configs(Bytes file);
bool ggufs(Bytes file);

inline void require(bool truth, const char* what) {
  if (!truth) throw std::logic_error(what);
}

template <class Read>
bool is_taken(const Read& read) {
  try {
    read();
    return true;
  } catch (const UsageError&) {
    return false;
  } catch (const CannotRun&) {
    return false;
  }
}

}  // namespace swa::fuzz
