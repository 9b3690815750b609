// What one layer keeps, in tokens.
#pragma once

#include "mask/window.hpp"

namespace swa {

inline constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

// Tokens of the context that a layer must keep for the next query: a local layer its last W.
constexpr Index tokens_kept(const Window& window, Index context) {
  const Side left = window.reach_left();
  return left.bounded ? smaller(context, left.reach + 1) : context;
}

}  // namespace swa
