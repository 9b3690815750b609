#include "mask/conventions.hpp"

#include <fmt/format.h>

namespace swa {
namespace {

std::string reach(const Side& side) {
  return side.bounded ? fmt::format("{}", side.reach) : std::string("unbounded");
}

}  // namespace

std::string describe(const Window& window, Index sinks) {
  const FlashAttentionWindow fa = to_flash_attention(window);
  std::string beside = fmt::format("(FlashAttention window_size = ({}, {}))", fa.left, fa.right);
  if (sinks > 0) beside = fmt::format("and {} sink tokens {}", sinks, beside);
  switch (window.kind) {
    case Window::Kind::global:
      return "no window, causal " + beside;
    case Window::Kind::causal:
      return fmt::format("W = {} {}, the query's own included {}", window.width,
                         window.width == 1 ? "key" : "keys", beside);
    case Window::Kind::band:
      return fmt::format("band left {}, right {} {}", reach(window.left), reach(window.right),
                         beside);
  }
  return {};
}

}  // namespace swa
