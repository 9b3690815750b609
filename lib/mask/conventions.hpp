// The window conventions of other projects, converted here and nowhere else.
#pragma once

#include <string>

#include "mask/window.hpp"

namespace swa {

// FlashAttention's causal and window_size = (left, right): keys besides the query, inclusive on
// both sides, aligned bottom-right; -1 means no bound. causal=True hides every later key whatever
// `right` says. Source: FlashAttention's README, flash_attn_func.
struct FlashAttentionWindow {
  bool causal = false;
  Index left = -1, right = -1;
};

constexpr FlashAttentionWindow to_flash_attention(const Window& window) {
  const Side left = window.reach_left(), right = window.reach_right();
  const bool causal = right == Side::of(0);
  return {causal, left.bounded ? left.reach : -1,
          right.bounded && !(causal && !left.bounded) ? right.reach : -1};
}

// Negative means no bound. (L, 0) is a causal window of L + 1 keys.
constexpr Window from_flash_attention(FlashAttentionWindow fa) {
  if (fa.causal || fa.right == 0) {
    return fa.left < 0 ? Window::global() : Window::causal(fa.left + 1);
  }
  const auto side = [](Index reach) { return reach < 0 ? Side::unbounded() : Side::of(reach); };
  return Window::band(side(fa.left), side(fa.right));
}

// The mask for people, such as "W = 128 keys, the query's own included (FlashAttention causal=True,
// window_size=(127, 0))". The conversion is left out, and the reason given, where FlashAttention
// has no such mask: sink tokens, or another alignment than bottom-right.
std::string describe(const Mask& mask);

}  // namespace swa
