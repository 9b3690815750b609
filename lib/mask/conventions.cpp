#include "mask/conventions.hpp"

#include <fmt/format.h>

namespace swa {
namespace {

std::string reach(const Side& side) {
  return side.bounded ? fmt::format("{}", side.reach) : std::string("unbounded");
}

std::string window_text(const Window& window) {
  switch (window.kind) {
    case Window::Kind::global:
      return "no window, causal";
    case Window::Kind::causal:
      return fmt::format("W = {} {}, the query's own included", window.width,
                         window.width == 1 ? "key" : "keys");
    case Window::Kind::band:
      return fmt::format("band left {}, right {}", reach(window.left), reach(window.right));
  }
  return {};
}

std::string flash_attention_text(const Mask& mask) {
  if (mask.sinks > 0) return "no FlashAttention equivalent: sink tokens";
  if (mask.q_offset != mask.n_k - mask.n_q) return "no FlashAttention equivalent: top-left anchor";
  const FlashAttentionWindow fa = to_flash_attention(mask.window);
  return fmt::format("FlashAttention causal={}, window_size=({}, {})", fa.causal ? "True" : "False",
                     fa.left, fa.right);
}

}  // namespace

std::string describe(const Mask& mask) {
  std::string text = window_text(mask.window);
  if (mask.sinks > 0) text += fmt::format(", {} sink tokens", mask.sinks);
  return fmt::format("{} ({})", text, flash_attention_text(mask));
}

}  // namespace swa
