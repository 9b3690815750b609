#include "verify/circumstances.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace swa {
namespace {

using std::string;
using Kind = Window::Kind;

// holds(queries, keys) of every sequence.
template <class Holds>
bool each_sequence(const Problem& p, Holds holds) {
  for (Index b = 0; b < p.batch; ++b) {
    if (!holds(p.queries(b), p.keys(b))) return false;
  }
  return true;
}

// change(queries, keys) of every sequence.
template <class Change>
void change_sizes(Problem& p, Change change) {
  if (!p.has_lengths()) {
    change(p.n_q, p.n_k);
  } else {
    std::vector<Index> queries, keys;
    for (Index b = 0; b < p.batch; ++b) {
      queries.push_back(p.queries(b));
      keys.push_back(p.keys(b));
      change(queries.back(), keys.back());
    }
    p.lengths_q = queries;
    p.lengths_k = keys;
    p.n_q = larger(1, *std::max_element(queries.begin(), queries.end()));
    p.n_k = larger(1, *std::max_element(keys.begin(), keys.end()));
  }
  p.sinks = smaller(p.sinks, p.n_k);
}

// The first sequence alone.
void take_one_sequence(Problem& p) {
  p.batch = 1;
  for (auto* lengths : {&p.lengths_q, &p.lengths_k}) {
    if (!lengths->empty()) *lengths = {lengths->front()};
  }
  if (p.layout == Layout::packed) change_sizes(p, [](Index&, Index&) {});
}

void take_longest_lengths(Problem& p) {
  change_sizes(p, [n_q = p.n_q, n_k = p.n_k](Index& queries, Index& keys) {
    queries = n_q;
    keys = n_k;
  });
}

void take_window_beyond_keys(Problem& p) {
  const Side right = p.window.reach_right();
  p.window =
      right == Side::of(0) ? Window::causal(p.n_k + 1) : Window::band(Side::of(p.n_k), right);
}

void hide_keys_after_query(Problem& p) {
  const Side left = p.window.reach_left();
  p.window = left.bounded ? Window::causal(left.reach + 1) : Window::global();
}

string said_of_window(const Problem& p, const string& relation) {
  const Side left = p.window.reach_left();
  return left.bounded ? fmt::format("W = {} {}", left.reach + 1, relation)
                      : string("no sliding window");
}

constexpr std::array kOfSizes{
    Circumstance{
        [](const Problem& p) {
          return each_sequence(p, [](Index queries, Index keys) { return queries == keys; });
        },
        [](Problem& p) { change_sizes(p, [](Index& queries, Index& keys) { queries = keys; }); },
        [](const Problem& p) {
          return p.has_lengths() ? string("n_q = n_k in each sequence")
                                 : fmt::format("n_q = n_k = {}", p.n_k);
        }},
    Circumstance{
        [](const Problem& p) {
          return each_sequence(p, [](Index queries, Index keys) { return queries <= keys; });
        },
        [](Problem& p) {
          change_sizes(p, [](Index& queries, Index& keys) { queries = smaller(queries, keys); });
        },
        [](const Problem&) { return string("n_q <= n_k, so every row sees a key"); }},
    Circumstance{[](const Problem& p) { return p.n_q > 1; },
                 [](Problem& p) {
                   change_sizes(p, [](Index& queries, Index&) { queries = larger(queries, 2); });
                 },
                 [](const Problem& p) { return fmt::format("n_q = {} > 1", p.n_q); }},
    Circumstance{[](const Problem& p) { return p.n_q == 1; },
                 [](Problem& p) { change_sizes(p, [](Index& queries, Index&) { queries = 1; }); },
                 [](const Problem&) { return string("n_q = 1"); }},
    Circumstance{[](const Problem& p) { return p.batch == 1; }, take_one_sequence,
                 [](const Problem&) { return string("batch = 1"); }},
    Circumstance{[](const Problem& p) { return p.layout == Layout::padded; },
                 [](Problem& p) { p.layout = Layout::padded; },
                 [](const Problem&) { return string("sequences are not packed"); }},
    Circumstance{[](const Problem& p) {
                   return each_sequence(p, [&](Index queries, Index keys) {
                     return queries == p.n_q && keys == p.n_k;
                   });
                 },
                 take_longest_lengths,
                 [](const Problem&) { return string("all sequences are of one length"); }},
    Circumstance{[](const Problem& p) { return p.heads_q == 1; },
                 [](Problem& p) { p.heads_q = p.heads_kv = 1; },
                 [](const Problem&) { return string("heads_q = 1"); }},
    Circumstance{
        [](const Problem& p) { return p.heads_q == p.heads_kv; },
        [](Problem& p) { p.heads_kv = p.heads_q; },
        [](const Problem& p) { return fmt::format("heads_kv = heads_q = {}", p.heads_q); }},
    Circumstance{
        [](const Problem& p) { return p.value_dim() == p.head_dim; },
        [](Problem& p) { p.head_dim_v.reset(); },
        [](const Problem& p) { return fmt::format("head_dim_v = head_dim = {}", p.head_dim); }},
    Circumstance{[](const Problem& p) { return p.head_dim == 64; },
                 [](Problem& p) { p.head_dim = 64; },
                 [](const Problem&) { return string("head_dim = 64"); }},
};

constexpr std::array kOfMask{
    Circumstance{
        [](const Problem& p) {
          const Side left = p.window.reach_left();
          return left.bounded && left.reach >= p.n_k;
        },
        take_window_beyond_keys,
        [](const Problem& p) { return said_of_window(p, fmt::format("> n_k = {}", p.n_k)); }},
    Circumstance{
        [](const Problem& p) { return p.window.kind != Kind::causal || p.window.width < p.n_k; },
        [](Problem& p) { p.window = Window::causal(larger(1, p.n_k - 1)); },
        [](const Problem& p) { return said_of_window(p, fmt::format("< n_k = {}", p.n_k)); }},
    Circumstance{
        [](const Problem& p) { return p.window.kind != Kind::causal || p.window.width > 1; },
        [](Problem& p) { p.window = Window::causal(2); },
        [](const Problem& p) { return said_of_window(p, "> 1"); }},
    Circumstance{[](const Problem& p) { return p.window.reach_right() == Side::of(0); },
                 hide_keys_after_query,
                 [](const Problem&) { return string("no row sees keys after its own"); }},
    Circumstance{[](const Problem& p) { return p.window.kind != Kind::chunked; },
                 [](Problem& p) { p.window = Window::causal(p.window.width); },
                 [](const Problem&) { return string("a sliding window, no chunks"); }},
    Circumstance{[](const Problem& p) { return p.anchor == Anchor::bottom_right; },
                 [](Problem& p) { p.anchor = Anchor::bottom_right; },
                 [](const Problem&) { return string("bottom-right is what was asked for"); }},
    Circumstance{[](const Problem& p) { return p.sinks == 0; }, [](Problem& p) { p.sinks = 0; },
                 [](const Problem&) { return string("no sink tokens"); }},
};

constexpr std::array kOfScores{
    Circumstance{[](const Problem& p) { return !p.sink_logits; },
                 [](Problem& p) { p.sink_logits = false; },
                 [](const Problem&) { return string("no sink logits"); }},
    Circumstance{[](const Problem& p) { return p.softcap == 0; }, [](Problem& p) { p.softcap = 0; },
                 [](const Problem&) { return string("no softcap"); }},
    Circumstance{[](const Problem& p) { return !p.scale; }, [](Problem& p) { p.scale.reset(); },
                 [](const Problem& p) {
                   return fmt::format("scale = 1 / sqrt(head_dim) = {:.4g}", p.score_scale());
                 }},
    Circumstance{[](const Problem& p) { return p.dtype == Dtype::fp32; },
                 [](Problem& p) { p.dtype = Dtype::fp32; },
                 [](const Problem&) { return string("dtype = fp32"); }},
    Circumstance{[](const Problem& p) { return p.inputs == Recipe::normal; },
                 [](Problem& p) { p.inputs = Recipe::normal; },
                 [](const Problem&) { return string("inputs are normal deviates"); }},
};

}  // namespace

std::vector<Circumstance> circumstances() {
  std::vector<Circumstance> all(kOfSizes.begin(), kOfSizes.end());
  all.insert(all.end(), kOfMask.begin(), kOfMask.end());
  all.insert(all.end(), kOfScores.begin(), kOfScores.end());
  return all;
}

}  // namespace swa
