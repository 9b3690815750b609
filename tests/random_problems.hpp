// Random attention problems for tests.
#pragma once

#include <initializer_list>
#include <random>

#include "problem/problem.hpp"

namespace swa {

// Small problems with the edges favoured: sizes around W and around tiles, rows that see nothing.
class RandomProblems {
 public:
  // n_q and n_k are at most `most`.
  explicit RandomProblems(unsigned seed, Index most = kMaxIndex) : engine_(seed), most_(most) {}

  Problem next() {
    Problem p;
    p.batch = pick({1, 1, 2});
    p.heads_kv = pick({1, 1, 2});
    p.heads_q = p.heads_kv * pick({1, 1, 2, 3});
    p.n_k = smaller(most_, pick({1, 2, 7, 16, 17, 33, 64, 65, 100, 130}));
    p.n_q = smaller(most_, pick({1, 2, 5, 16, 31, 64, p.n_k, p.n_k, p.n_k + 9, 2 * p.n_k}));
    p.head_dim = pick({1, 4, 8, 16});
    p.window = window(p.n_k);
    p.sinks = smaller(p.n_k, pick({0, 0, 0, 1, 3, 20}));
    p.sink_logits = pick({0, 0, 1}) == 1;
    if (pick({0, 0, 1}) == 1) p.softcap = 1.5;
    if (pick({0, 0, 1}) == 1) p.scale = 0.7;
    if (pick({0, 1}) == 1) p.anchor = Anchor::top_left;
    if (pick({0, 0, 1}) == 1) p.head_dim_v = pick({1, 4, 12});
    if (pick({0, 0, 1}) == 1) add_lengths(p);
    p.seed = engine_();
    return p;
  }

  Index pick(std::initializer_list<Index> values) {
    return values.begin()[engine_() % values.size()];
  }

 private:
  Window window(Index n_k) {
    const auto side = [&] {
      return pick({0, 0, 1}) == 1 ? Side::unbounded() : Side::of(pick({0, 1, 5, 40}));
    };
    switch (pick({0, 1, 1, 1, 2, 3})) {
      case 0:
        return Window::global();
      case 1:
        return Window::causal(pick({1, 2, 3, 16, 17, 50, larger(1, n_k - 1), n_k, n_k + 1}));
      case 3:
        return Window::chunked(pick({1, 2, 7, 16, 33, larger(1, n_k - 1), n_k, n_k + 1}));
      default:
        return Window::band(side(), side());
    }
  }

  // Sequences of 0, 1, W and W + 1 tokens among others, packed or padded.
  void add_lengths(Problem& p) {
    const Index W = p.window.kind == Window::Kind::causal ? p.window.width : 8;
    const auto length = [&](Index most) {
      return smaller(most, pick({0, 1, 2, W, W + 1, 20, most, larger(0, most - 1)}));
    };
    p.batch = pick({1, 2, 3, 5});
    for (Index b = 0; b < p.batch; ++b) {
      if (b == 0 || !p.lengths_q.empty()) p.lengths_q.push_back(length(p.n_q));
      p.lengths_k.push_back(length(p.n_k));
    }
    p.layout = pick({0, 1}) == 1 ? Layout::packed : Layout::padded;
    if (p.layout == Layout::padded && pick({0, 1}) == 1) p.lengths_q.clear();
  }

  std::mt19937 engine_;
  Index most_;
};

}  // namespace swa
