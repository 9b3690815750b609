#include "problem/random_problems.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/launch/decode.hpp"
#include "kernels/launch/prefill.hpp"
#include "problem/stated.hpp"

using namespace swa;

namespace {

std::vector<Problem> drawn(std::uint64_t seed, int count) {
  RandomProblems problems(seed);
  std::vector<Problem> all;
  for (int i = 0; i < count; ++i) all.push_back(problems.next());
  return all;
}

constexpr int kMany = 2000;

auto share_of(const std::vector<Problem>& all, const std::function<bool(const Problem&)>& holds) {
  return std::count_if(all.begin(), all.end(), holds);
}

Index span_of(const Window& w) {
  return w.kind == Window::Kind::causal || w.kind == Window::Kind::chunked ? w.width : 0;
}

}  // namespace

TEST_CASE("a seed gives the same random problems and another seed gives others") {
  const std::vector<Problem> all = drawn(7, 100);
  CHECK(all == drawn(7, 100));
  const std::vector<Problem> fewer = drawn(7, 40);
  CHECK(std::equal(fewer.begin(), fewer.end(), all.begin()));
  CHECK(all != drawn(8, 100));
  // For good: a seed that was written down still gives its problems.
  CHECK(options(all[0]) ==
        "--mask chunked:1 --nq 1 --nk 1 --lengths-k 1,1,0 --heads 8 --kv-heads 2 --head-dim 40 "
        "--sinks 1 --scale 0.15625 --dtype fp64 --seed 7280129");
  CHECK(options(all[99]) ==
        "--W 129 --nq 133 --nk 130 --heads 6 --kv-heads 2 --head-dim 4 --softcap 20 "
        "--scale -0.09375 --seed 6139026");
}

TEST_CASE("random problems are valid and within their limits") {
  for (const Problem& p : drawn(9, kMany)) {
    CAPTURE(options(p));
    CHECK_NOTHROW(validate(p));
    CHECK(larger(p.n_q, p.n_k) <= 200);
    CHECK(larger(p.head_dim, p.value_dim()) <= 256);
  }
  RandomProblems problems(9, {40, 16});
  for (int i = 0; i < kMany; ++i) {
    const Problem p = problems.next();
    CAPTURE(options(p));
    CHECK_NOTHROW(validate(p));
    CHECK(larger(p.n_q, p.n_k) <= 40);
    CHECK(larger(p.head_dim, p.value_dim()) <= 16);
  }
}

// What the window, the sizes and the scores of a problem become on their way through its line.
TEST_CASE("the line of a random problem states it whole") {
  for (const Problem& p : drawn(10, kMany)) {
    CAPTURE(options(p));
    StatedMask mask;
    if (p.window.kind == Window::Kind::causal) mask.windows = {p.window};
    if (p.window.kind == Window::Kind::band) {
      mask.left = p.window.left;
      mask.right = p.window.right;
    }
    if (p.window.kind == Window::Kind::chunked) mask.mask = options(p.window).substr(7);
    CHECK(decide_windows(mask) == std::vector{p.window});
    StatedSizes sizes;
    if (p.layout == Layout::padded) {
      sizes.n_q = p.n_q;
      sizes.n_k = p.n_k;
    }
    sizes.lengths_q = p.lengths_q;
    sizes.lengths_k = p.lengths_k;
    Problem again = p;
    again.n_q = again.n_k = 0;
    if (p.has_lengths()) again.batch = 0;
    set_sizes(again, sizes);
    CHECK(again == p);
    if (p.softcap > 0) CHECK_NOTHROW(set_softcap(again, p.softcap, ""));
  }
}

TEST_CASE("random problems cover every feature") {
  const std::vector<Problem> all = drawn(11, kMany);
  using P = const Problem&;
  using Kind = Window::Kind;
  struct Feature {
    const char* name;
    std::function<bool(P)> holds;
    int at_least;
  };
  const std::vector<Feature> features{
      {"no window", [](P p) { return p.window.kind == Kind::global; }, 150},
      {"causal", [](P p) { return p.window.kind == Kind::causal; }, 700},
      {"band", [](P p) { return p.window.kind == Kind::band; }, 250},
      {"band open to the left",
       [](P p) { return p.window.kind == Kind::band && !p.window.left.bounded; }, 50},
      {"band open to the right",
       [](P p) { return p.window.kind == Kind::band && !p.window.right.bounded; }, 50},
      {"band of (0, right)",
       [](P p) { return p.window.kind == Kind::band && p.window.left == Side::of(0); }, 10},
      {"chunked", [](P p) { return p.window.kind == Kind::chunked; }, 150},
      {"W = 1", [](P p) { return p.window == Window::causal(1); }, 20},
      {"top-left", [](P p) { return p.anchor == Anchor::top_left && p.n_q != p.n_k; }, 300},
      {"square", [](P p) { return p.n_q == p.n_k; }, 300},
      {"chunk", [](P p) { return p.n_q > 1 && p.n_q < p.n_k; }, 200},
      {"decode", [](P p) { return p.n_q == 1 && p.n_k > 16; }, 150},
      {"more queries than keys", [](P p) { return p.n_q > p.n_k; }, 200},
      {"n_k = W - 1", [](P p) { return p.n_k == span_of(p.window) - 1; }, 40},
      {"n_k = W", [](P p) { return p.n_k == span_of(p.window); }, 40},
      {"n_k = W + 1", [](P p) { return p.n_k == span_of(p.window) + 1; }, 40},
      {"n_q = W", [](P p) { return p.n_q == span_of(p.window); }, 40},
      {"padded lengths", [](P p) { return p.has_lengths() && p.layout == Layout::padded; }, 200},
      {"packed", [](P p) { return p.layout == Layout::packed; }, 200},
      {"a sequence without queries",
       [](P p) { return std::count(p.lengths_q.begin(), p.lengths_q.end(), 0) > 0; }, 50},
      {"a sequence without keys",
       [](P p) { return std::count(p.lengths_k.begin(), p.lengths_k.end(), 0) > 0; }, 100},
      {"batch", [](P p) { return p.batch > 1; }, 400},
      {"groups", [](P p) { return p.group() > 1; }, 600},
      {"a group of 3", [](P p) { return p.group() == 3; }, 100},
      {"groups of 8 on several kv heads", [](P p) { return p.group() == 8 && p.heads_kv > 1; }, 60},
      {"sinks", [](P p) { return p.sinks > 0 && p.window.kind != Kind::global; }, 300},
      {"sinks beyond the window",
       [](P p) { return p.sinks > span_of(p.window) && span_of(p.window) > 0; }, 50},
      {"sink logits", [](P p) { return p.sink_logits; }, 300},
      {"softcap", [](P p) { return p.softcap > 0; }, 300},
      {"scale", [](P p) { return p.scale && *p.scale > 0; }, 200},
      {"negative scale", [](P p) { return p.score_scale() < 0; }, 80},
      {"uniform", [](P p) { return p.inputs == Recipe::uniform; }, 100},
      {"large", [](P p) { return p.inputs == Recipe::large; }, 50},
      {"fp64", [](P p) { return p.dtype == Dtype::fp64; }, 200},
      {"fp32", [](P p) { return p.dtype == Dtype::fp32; }, 200},
      {"bf16", [](P p) { return p.dtype == Dtype::bf16; }, 500},
      {"fp16", [](P p) { return p.dtype == Dtype::fp16; }, 200},
      {"another head_dim_v", [](P p) { return p.value_dim() != p.head_dim; }, 200},
      {"for a prefill kernel", [](P p) { return !prefill_unsupported(p); }, 700},
      {"for a decode kernel", [](P p) { return !decode_unsupported(p); }, 200},
  };
  for (const Feature& feature : features) {
    CAPTURE(feature.name);
    CHECK(share_of(all, feature.holds) >= feature.at_least);
  }
  for (const PrefillTile& tile : kPrefillTiles) {
    CAPTURE(tile.head_dim);
    CAPTURE(tile.head_dim_v);
    CHECK(share_of(all, [&](P p) {
            return p.head_dim == tile.head_dim && p.value_dim() == tile.head_dim_v &&
                   !prefill_unsupported(p);
          }) > 50);
  }
  for (const Index edge : {1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129}) {
    CAPTURE(edge);
    CHECK(share_of(all, [&](P p) { return p.n_q == edge; }) >= 8);
    CHECK(share_of(all, [&](P p) { return p.n_k == edge; }) >= 8);
    CHECK(share_of(all, [&](P p) { return span_of(p.window) == edge; }) >= 8);
    const auto has = [&](const std::vector<Index>& lengths) {
      return std::count(lengths.begin(), lengths.end(), edge) > 0;
    };
    CHECK(share_of(all, [&](P p) { return has(p.lengths_q) || has(p.lengths_k); }) >= 8);
  }
}
