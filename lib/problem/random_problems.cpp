#include "problem/random_problems.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "mask/conventions.hpp"

namespace swa {
namespace {

// Head dims of query and value that kernels for 16-bit elements are compiled for.
constexpr std::array<std::pair<Index, Index>, 7> kCompiled{
    {{64, 64}, {80, 80}, {96, 96}, {128, 128}, {192, 192}, {192, 128}, {256, 256}}};

bool is_16_bit(Dtype dtype) {
  return dtype == Dtype::bf16 || dtype == Dtype::fp16;
}

// The size that a length may lie beside: W, C, or what a band spans.
Index span_of(const Window& window) {
  if (window.kind != Window::Kind::band) return window.width;
  const auto reach = [](const Side& side) { return side.bounded ? side.reach : 0; };
  return reach(window.left) + reach(window.right) + 1;
}

}  // namespace

Index RandomProblems::below(Index end) {
  return static_cast<Index>(engine_() % static_cast<std::uint64_t>(end));
}

Index RandomProblems::pick(std::initializer_list<Index> values) {
  return values.begin()[below(static_cast<Index>(values.size()))];
}

Index RandomProblems::beside(Index edge) {
  return larger(1, edge + pick({-1, 0, 1}));
}

Index RandomProblems::size() {
  if (once_in(5)) return pick({1, 2, 3});
  if (once_in(3)) return 1 + below(limits_.tokens);
  return beside(pick({16, 32, 64, 128}));
}

Side RandomProblems::side() {
  if (once_in(4)) return Side::unbounded();
  return Side::of(once_in(3) ? pick({0, 1}) : size());
}

Window RandomProblems::window() {
  switch (pick({0, 1, 1, 1, 1, 2, 2, 3})) {
    case 0:
      return Window::global();
    case 1:
      return Window::causal(size());
    case 3:
      return Window::chunked(size());
    default: {
      const Side left = side(), right = side();
      // As options() is read: what ends at the query is a causal window.
      return from_flash_attention(
          {false, left.bounded ? left.reach : -1, right.bounded ? right.reach : -1});
    }
  }
}

void RandomProblems::set_sizes(Problem& p) {
  const Index W = span_of(p.window);
  const auto one = [&] { return once_in(3) ? beside(W) : size(); };
  const auto within = [&](Index tokens) { return smaller(tokens, limits_.tokens); };
  p.n_k = within(one());
  switch (pick({0, 0, 1, 2, 2, 3, 4})) {
    case 0:
      p.n_q = p.n_k;
      break;
    case 1:
      p.n_q = 1;
      break;
    case 3:
      p.n_q = within(p.n_k + size());
      break;
    default:
      p.n_q = within(one());
  }
  p.batch = pick({1, 1, 1, 2});
}

void RandomProblems::set_heads(Problem& p) {
  p.heads_kv = pick({1, 1, 2, 3});
  p.heads_q = p.heads_kv * pick({1, 1, 1, 2, 3, 4, 8});
  p.dtype = std::array{Dtype::fp64, Dtype::fp32, Dtype::bf16, Dtype::bf16, Dtype::fp16}[below(5)];
  p.head_dim = pick({1, 4, 8, 16, 40, 64});
  Index value = once_in(4) ? pick({1, 4, 12, 72}) : p.head_dim;
  if (is_16_bit(p.dtype) && !once_in(6)) std::tie(p.head_dim, value) = kCompiled[below(7)];
  p.head_dim = smaller(p.head_dim, limits_.head_dim);
  value = smaller(value, limits_.head_dim);
  if (value != p.head_dim) p.head_dim_v = value;
}

void RandomProblems::set_scores(Problem& p) {
  p.sink_logits = once_in(4);
  if (once_in(4)) p.softcap = once_in(2) ? 1.5 : 20;
  if (once_in(4)) p.scale = once_in(3) ? -0.09375 : 0.15625;
  if (once_in(10)) p.inputs = Recipe::uniform;
  if (once_in(20)) {
    p.inputs = Recipe::large;
    p.scale = 0x1p-15;
  }
}

// Sequences of 0, 1, W - 1, W and W + 1 tokens among others, packed or padded.
void RandomProblems::set_lengths(Problem& p) {
  const auto fill = [&](std::vector<Index>& lengths, Index& most) {
    for (Index b = 0; b < p.batch; ++b) {
      const Index any = once_in(4) ? 0 : once_in(3) ? beside(span_of(p.window)) : size();
      lengths.push_back(smaller(most, once_in(4) ? most : any));
    }
    const Index longest = *std::max_element(lengths.begin(), lengths.end());
    if (p.layout == Layout::packed) most = larger(1, longest);
  };
  p.batch = pick({1, 2, 3, 5});
  p.layout = once_in(2) ? Layout::packed : Layout::padded;
  fill(p.lengths_k, p.n_k);
  if (p.layout == Layout::padded && once_in(2)) return;  // all have n_q queries
  fill(p.lengths_q, p.n_q);
  Index& last = p.lengths_q.back();
  if (std::count(p.lengths_q.begin(), p.lengths_q.end(), 0) == p.batch) last = 1;
}

Problem RandomProblems::next() {
  Problem p;
  p.window = window();
  set_sizes(p);
  set_heads(p);
  set_scores(p);
  if (once_in(3)) set_lengths(p);
  if (once_in(3)) p.sinks = smaller(p.n_k, once_in(2) ? pick({1, 4}) : size());
  if (once_in(2)) p.anchor = Anchor::top_left;
  p.seed = engine_() >> 40;  // few digits
  return p;
}

}  // namespace swa
