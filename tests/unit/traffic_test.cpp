#include "problem/traffic.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "problem/random_problems.hpp"

using namespace swa;

namespace {

// Element by element: a key counts where one row of its sequence sees it.
Traffic counted(const Problem& p) {
  double rows = 0, keys = 0;
  for (const Sequence& s : sequences(p)) {
    rows += static_cast<double>(s.mask.n_q);
    for (Index key = 0; key < s.mask.n_k; ++key) {
      bool seen = false;
      for (Index row = 0; row < s.mask.n_q && !seen; ++row) seen = sees(s.mask, row, key);
      keys += seen;
    }
  }
  const double element = bytes(p.dtype), lse = p.dtype == Dtype::fp64 ? 8 : 4;
  const double dims = static_cast<double>(p.head_dim + p.value_dim());
  rows *= static_cast<double>(p.heads_q);
  keys *= static_cast<double>(p.heads_kv);
  return {(rows * static_cast<double>(p.head_dim) + keys * dims) * element,
          rows * (static_cast<double>(p.value_dim()) * element + lse)};
}

}  // namespace

TEST_CASE("the least traffic is that of the keys that some row sees") {
  RandomProblems problems(3);
  int hidden = 0;  // problems with keys that no row sees
  for (int i = 0; i < 600; ++i) {
    const Problem p = problems.next();
    if (p.n_q * p.n_k > 1 << 20) continue;
    CAPTURE(options(p));
    const Traffic expected = counted(p), got = least_traffic(p);
    CHECK(got.reads == expected.reads);
    CHECK(got.writes == expected.writes);
    Problem all = p;
    all.window = Window::global();
    hidden += got.reads < least_traffic(all).reads;
  }
  CHECK(hidden > 20);
}

TEST_CASE("the least traffic of sizes near 2^31 is a sum in doubles") {
  Problem p;
  p.n_q = p.n_k = Index{1} << 32;
  p.heads_q = p.heads_kv = 1 << 10;
  p.head_dim = 128;
  p.dtype = Dtype::bf16;
  CHECK(least_traffic(p).total() == 0x1p42 * (4 * 128 * 2 + 4));
}
