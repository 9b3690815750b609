#include "mask/key_runs.hpp"

#include <doctest/doctest.h>

using namespace swa;

TEST_CASE("append joins what goes on where the last run ends and leaves empty runs out") {
  KeyRuns runs;
  append(runs, {3, 3});
  append(runs, {5, 4});
  CHECK(runs.empty());
  append(runs, {2, 5});
  append(runs, {5, 5});
  append(runs, {5, 9});
  CHECK(runs == KeyRuns{{2, 9, 1}});
  append(runs, {9, 10, 2});  // the same keys, counted otherwise
  append(runs, {10, 12, 2});
  append(runs, {12, 13, 1});
  append(runs, {14, 15, 1});  // 13 is missing
  CHECK(runs == KeyRuns{{2, 9, 1}, {9, 12, 2}, {12, 13, 1}, {14, 15, 1}});
}

TEST_CASE("runs of a row join sink tokens with a band that begins behind them") {
  CHECK(runs_of({{0, 4}, {4, 9}}) == KeyRuns{{0, 9, 1}});
  CHECK(runs_of({{0, 4}, {5, 9}}) == KeyRuns{{0, 4, 1}, {5, 9, 1}});
  CHECK(runs_of({{0, 0}, {5, 9}}) == KeyRuns{{5, 9, 1}});
  CHECK(runs_of({{0, 0}, {7, 7}}).empty());
}

TEST_CASE("runs of every row hold the keys that the row sees") {
  for (const Index sinks : {Index{0}, Index{3}}) {
    const Mask mask = Mask::make(Window::causal(4), sinks, 12, 9, Anchor::bottom_right);
    for (Index row = 0; row < mask.n_q; ++row) {
      KeyRuns expected;
      for (Index key = 0; key < mask.n_k; ++key) {
        if (sees(mask, row, key)) append(expected, {key, key + 1});
      }
      CHECK(runs_of(keys_of_row(mask, row)) == expected);
    }
  }
}
