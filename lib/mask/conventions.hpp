// The window conventions of other projects, converted here and nowhere else.
#pragma once

#include <string>

#include "mask/window.hpp"

namespace swa {

// FlashAttention's window_size = (left, right): keys besides the query, inclusive on both sides,
// aligned bottom-right; -1 means no bound. Source: FlashAttention's README, flash_attn_func.
struct FlashAttentionWindow {
  Index left = -1, right = -1;
};

constexpr FlashAttentionWindow to_flash_attention(const Window& window) {
  const Side left = window.reach_left(), right = window.reach_right();
  return {left.bounded ? left.reach : -1, right.bounded ? right.reach : -1};
}

// Negative means no bound. (L, 0) is a causal window of L + 1 keys and (-1, 0) is plain causal.
constexpr Window from_flash_attention(FlashAttentionWindow fa) {
  if (fa.right == 0) return fa.left < 0 ? Window::global() : Window::causal(fa.left + 1);
  const auto side = [](Index reach) { return reach < 0 ? Side::unbounded() : Side::of(reach); };
  return Window::band(side(fa.left), side(fa.right));
}

// The window for people, with sink tokens where there are any and the conversion beside it, such as
// "W = 128 keys, the query's own included (FlashAttention window_size = (127, 0))".
std::string describe(const Window& window, Index sinks);

}  // namespace swa
