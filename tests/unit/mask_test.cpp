#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "mask/conventions.hpp"
#include "mask/window.hpp"

using namespace swa;

namespace {

// The definition must be usable where a kernel would use it: at compile time.
static_assert(sees(Mask::make(Window::causal(3), 0, 8, 8, Anchor::bottom_right), 7, 5));
static_assert(!sees(Mask::make(Window::causal(3), 0, 8, 8, Anchor::bottom_right), 7, 4));
static_assert(keys_of_row(Mask::make(Window::global(), 0, 4, 4, Anchor::bottom_right), 3).size() ==
              4);

using Grid = std::vector<std::string>;

Grid draw(const Mask& mask) {
  Grid grid;
  for (Index row = 0; row < mask.n_q; ++row) {
    std::string line;
    for (Index key = 0; key < mask.n_k; ++key) line += sees(mask, row, key) ? 'x' : '.';
    grid.push_back(line);
  }
  return grid;
}

}  // namespace

// Grids drawn by hand: they are what `sees` is held against, and everything else against `sees`.
TEST_CASE("a causal window of 3") {
  CHECK(draw(Mask::make(Window::causal(3), 0, 6, 6, Anchor::bottom_right)) ==
        Grid{"x.....", "xx....", "xxx...", ".xxx..", "..xxx.", "...xxx"});
}

TEST_CASE("no window is causal attention") {
  CHECK(draw(Mask::make(Window::global(), 0, 4, 4, Anchor::bottom_right)) ==
        Grid{"x...", "xx..", "xxx.", "xxxx"});
}

TEST_CASE("a window of one key is the diagonal") {
  CHECK(draw(Mask::make(Window::causal(1), 0, 3, 3, Anchor::bottom_right)) ==
        Grid{"x..", ".x.", "..x"});
}

TEST_CASE("a band of 1 before and 2 after") {
  CHECK(draw(Mask::make(Window::band(Side::of(1), Side::of(2)), 0, 5, 5, Anchor::bottom_right)) ==
        Grid{"xxx..", "xxxx.", ".xxxx", "..xxx", "...xx"});
}

TEST_CASE("a band without a left bound") {
  CHECK(draw(Mask::make(Window::band(Side::unbounded(), Side::of(1)), 0, 4, 4,
                        Anchor::bottom_right)) == Grid{"xx..", "xxx.", "xxxx", "xxxx"});
}

TEST_CASE("a band without bounds sees everything") {
  CHECK(draw(Mask::make(Window::band(Side::unbounded(), Side::unbounded()), 0, 2, 3,
                        Anchor::bottom_right)) == Grid{"xxx", "xxx"});
}

TEST_CASE("two sink tokens stay visible but not from before") {
  CHECK(draw(Mask::make(Window::causal(2), 2, 6, 6, Anchor::bottom_right)) ==
        Grid{"x.....", "xx....", "xxx...", "xxxx..", "xx.xx.", "xx..xx"});
}

TEST_CASE("fewer queries than keys from either corner") {
  CHECK(draw(Mask::make(Window::causal(3), 0, 2, 6, Anchor::bottom_right)) ==
        Grid{"..xxx.", "...xxx"});
  CHECK(draw(Mask::make(Window::causal(3), 0, 2, 6, Anchor::top_left)) == Grid{"x.....", "xx...."});
}

TEST_CASE("more queries than keys: bottom-right leaves the first rows nothing") {
  CHECK(draw(Mask::make(Window::causal(2), 0, 5, 3, Anchor::bottom_right)) ==
        Grid{"...", "...", "x..", "xx.", ".xx"});
}

TEST_CASE("more queries than keys: top-left leaves the last rows nothing") {
  CHECK(draw(Mask::make(Window::causal(2), 0, 5, 3, Anchor::top_left)) ==
        Grid{"x..", "xx.", ".xx", "..x", "..."});
}

TEST_CASE("a decode step sees the last W keys") {
  CHECK(draw(Mask::make(Window::causal(3), 0, 1, 6, Anchor::bottom_right)) == Grid{"...xxx"});
}

TEST_CASE("FlashAttention's window_size counts keys besides the query") {
  const auto fa = [](const Window& window) {
    const FlashAttentionWindow w = to_flash_attention(window).value();
    return std::pair(w.left, w.right);
  };
  CHECK(fa(Window::causal(128)) == std::pair<Index, Index>(127, 0));
  CHECK(fa(Window::causal(1)) == std::pair<Index, Index>(0, 0));
  CHECK(fa(Window::global()) == std::pair<Index, Index>(-1, -1));
  CHECK(to_flash_attention(Window::global())->causal);
  CHECK_FALSE(to_flash_attention(Window::band(Side::unbounded(), Side::unbounded()))->causal);
  CHECK_FALSE(to_flash_attention(Window::chunked(8)).has_value());
  CHECK(from_flash_attention({true, -1, -1}) == Window::global());
  CHECK(from_flash_attention({true, 127, 5}) == Window::causal(128));  // causal overrides right
  CHECK(fa(Window::band(Side::of(5), Side::unbounded())) == std::pair<Index, Index>(5, -1));
  CHECK(from_flash_attention({false, 0, 0}) == Window::causal(1));  // not "no window"
  CHECK(from_flash_attention({false, -1, -1}) ==
        Window::band(Side::unbounded(), Side::unbounded()));
  for (const Window window :
       {Window::global(), Window::causal(1), Window::causal(4096),
        Window::band(Side::of(3), Side::of(9)), Window::band(Side::unbounded(), Side::of(2))}) {
    CHECK(from_flash_attention(to_flash_attention(window).value()) == window);
  }
}

TEST_CASE("the description names FlashAttention's arguments only where it has such a mask") {
  const auto text = [](Window window, Index sinks, Index n_q, Anchor anchor) {
    return describe(Mask::make(window, sinks, n_q, 600, anchor));
  };
  CHECK(
      text(Window::causal(128), 0, 96, Anchor::bottom_right) ==
      "W = 128 keys, the query's own included (FlashAttention causal=True, window_size=(127, 0))");
  CHECK(text(Window::causal(1), 4, 96, Anchor::bottom_right) ==
        "W = 1 key, the query's own included, 4 sink tokens (no FlashAttention equivalent: sink "
        "tokens)");
  CHECK(text(Window::global(), 0, 96, Anchor::top_left) ==
        "no window, causal (no FlashAttention equivalent: top-left anchor)");
  CHECK(text(Window::band(Side::of(3), Side::unbounded()), 0, 600, Anchor::top_left) ==
        "band left 3, right unbounded (FlashAttention causal=False, window_size=(3, -1))");
}

TEST_CASE("positions near the largest count do not wrap") {
  const Mask mask = Mask::make(Window::causal(kMaxIndex), 0, 1, kMaxIndex, Anchor::bottom_right);
  CHECK(keys_of_row(mask, 0).size() == kMaxIndex);
  const Mask narrow = Mask::make(Window::causal(5), 0, kMaxIndex, kMaxIndex, Anchor::bottom_right);
  CHECK(keys_of_row(narrow, kMaxIndex - 1).size() == 5);
  CHECK(sees(narrow, kMaxIndex - 1, kMaxIndex - 5));
  CHECK_FALSE(sees(narrow, kMaxIndex - 1, kMaxIndex - 6));
}
