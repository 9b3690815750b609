#include "verify/poison.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>

#include "kernels.hpp"
#include "problem/random_problems.hpp"

using namespace swa;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using Names = std::vector<std::string>;

Problem chunk() {  // keys 0 to 60 are dead
  Problem p;
  p.n_q = 30;
  p.n_k = 100;
  p.window = Window::causal(10);
  p.head_dim = 8;
  return p;
}

PoisonTest tested(const Kernel& kernel, const Problem& p) {
  return poison_test(kernel, p, make_inputs(p));
}

// Puts `what` into each row of the output for which some key of `reads` is not finite.
template <class Reads>
Kernel with_reads(Reads reads) {
  return with(toy_kernel(), [reads](const Problem& p, const Inputs& in, Attention& got) {
    for (Index row = 0; row < p.n_q; ++row) {
      for (Index key = 0; key < p.n_k; ++key) {
        if (!reads(p.mask(), row, key)) continue;
        for (Index d = 0; d < p.value_dim(); ++d)
          got.out.row(0, 0, row)[d] += 0 * in.v.row(0, 0, key)[d];
      }
    }
  });
}

}  // namespace

TEST_CASE("the right plan is clean on problems of every kind") {
  RandomProblems problems(41, {130, 16});
  int tests = 0;
  for (int i = 0; i < 150; ++i) {
    Problem p = problems.next();
    p.dtype = std::array{Dtype::fp64, Dtype::fp32, Dtype::bf16, Dtype::fp16}[i % 4];
    CAPTURE(options(p));
    const PoisonTest found = tested(planted_kernel(p, {64, 64}, {}), p);
    CHECK(found.deterministic);
    CHECK(found.dead.clean());
    CHECK(found.isolation.finite_clean);
    // Rows of two chunks share a query tile.
    const Index across = p.window.kind == Window::Kind::chunked ? p.window.width : 0;
    CHECK(found.isolation.granule <= 63 + across);
    CHECK(found.pass(63 + across));
    tests += !found.isolation.keys.empty() && found.dead.keys > 0;
  }
  CHECK(tests > 10);
}

TEST_CASE("rows without keys that a window ends before are near the keys of their tile") {
  // Key 32 is poisoned among others. Row 131 is the last that sees it, and row 191 of the same
  // query tile sees no key: its window begins at 92.
  Problem p;
  p.n_q = 200;
  p.n_k = 50;
  p.window = Window::causal(100);
  p.anchor = Anchor::top_left;
  p.sink_logits = true;
  p.head_dim = 8;
  const PoisonTest found = tested(planted_kernel(p, {64, 64}, {}), p);
  CHECK(found.isolation.keys == std::vector<Index>{0, 16, 32, 49});
  CHECK(found.isolation.granule == 60);
}

TEST_CASE("a kernel that reads only what its rows see has a granule of 0") {
  const PoisonTest found = tested(toy_kernel(), chunk());
  CHECK(found.deterministic);
  CHECK(found.dead.keys == 61);
  CHECK(found.dead.clean());
  CHECK(found.isolation.keys.size() == 4);
  CHECK(found.isolation.finite_clean);
  CHECK(found.isolation.granule == 0);
  CHECK(found.pass(0));
}

TEST_CASE("a dead key that is read is found and poisons are told apart") {
  const auto reading = [](auto what) {
    return with(toy_kernel(), [what](const Problem&, const Inputs& in, Attention& got) {
      got.out.data[3] += what(in.v.row(0, 0, 60)[0]);
    });
  };
  const auto changed_by = [&](auto what) {
    const PoisonTest found = tested(reading(what), chunk());
    CHECK_FALSE(found.pass({}));
    return found.dead.changed_by;
  };
  CHECK(changed_by([](double v) { return std::isnan(v) ? 1.0 : 0.0; }) == Names{"NaN"});
  CHECK(changed_by([](double v) { return std::isinf(v) ? 1.0 : 0.0; }) == Names{"Inf"});
  CHECK(changed_by([](double v) { return v == 1e4 ? 1.0 : 0.0; }) == Names{"1e4"});
  CHECK(changed_by([](double v) { return 0 * v; }) == Names{"NaN", "Inf"});
  CHECK(changed_by([](double v) { return 1e-6 * v; }) == Names{"NaN", "Inf", "1e4"});
}

TEST_CASE("a dead key that reaches the lse alone is found") {
  const Kernel kernel = with(toy_kernel(), [](const Problem&, const Inputs& in, Attention& got) {
    got.lse.data[3] += 0 * in.k.row(0, 0, 60)[0];
  });
  CHECK(tested(kernel, chunk()).dead.changed_by == Names{"NaN", "Inf"});
}

TEST_CASE("padding that is read is found") {
  Problem p = chunk();
  p.batch = 2;
  p.n_q = p.n_k = 20;
  p.lengths_k = {20, 12};
  const PoisonTest right = tested(planted_kernel(p, {16, 16}, {}), p);
  CHECK(right.dead.keys == 8);
  CHECK(right.dead.clean());
  const Kernel reads =
      with(planted_kernel(p, {16, 16}, {}), [](const Problem&, const Inputs& in, Attention& got) {
        const double v = in.v.row(1, 0, 12)[0];
        got.out.data[0] += std::isnan(v) ? 0 : v;
      });
  CHECK(tested(reads, p).dead.changed_by == Names{"Inf", "1e4"});  // it holds NaN anyway
}

TEST_CASE("a large value that reaches a row that does not see it is found") {
  const Problem p = chunk();
  const Kernel kernel = toy_kernel([](const Mask& m, Index, Index row, Index key) {
    return sees(m, row, key) ? 1.0 : key == m.q_offset + row - 10 ? 1e-9 : 0.0;
  });
  const PoisonTest found = tested(kernel, p);
  CHECK_FALSE(found.isolation.finite_clean);
  CHECK_FALSE(found.pass({}));
  CHECK(found.isolation.granule >= 1);
}

TEST_CASE("the granule is the farthest row that a NaN takes") {
  const Problem p = chunk();
  for (const Index granule : {Index{1}, Index{7}, Index{8}}) {
    // Multiplies 0 with the v of keys that are up to so many keys from the window.
    const PoisonTest found =
        tested(with_reads([granule](const Mask& m, Index row, Index key) {
                 const KeyRange band = keys_of_row(m, row).band;
                 const Index first_seen = band_begin(m, 0);
                 return key >= larger(first_seen, band.begin - granule) && key < band.end + granule;
               }),
               p);
    CHECK(found.isolation.granule == granule);
    CHECK(found.isolation.finite_clean);
    CHECK(found.pass(granule));
    CHECK_FALSE(found.pass(granule - 1));
    CHECK(found.pass({}));
  }
}

TEST_CASE("a NaN that takes the lse of another row is found") {
  const Kernel kernel = with(toy_kernel(), [](const Problem& p, const Inputs& in, Attention& got) {
    for (Index row = 0; row + 1 < p.n_q; ++row) {
      got.lse.row(0, 0, row)[0] += 0 * in.k.row(0, 0, p.n_k - p.n_q + row + 1)[0];
    }
  });
  CHECK(tested(kernel, chunk()).isolation.granule == 1);
}

TEST_CASE("a kernel that is not deterministic is not judged by bits") {
  int calls = 0;
  const Kernel kernel = with(toy_kernel(), [&](const Problem&, const Inputs&, Attention& got) {
    got.out.data[0] += 1e-9 * ++calls;
  });
  const PoisonTest found = tested(kernel, chunk());
  CHECK_FALSE(found.deterministic);
  CHECK(calls == 2);
  CHECK(found.dead.clean());
  CHECK(found.isolation.keys.empty());
}

TEST_CASE("the poison tests make as many calls as they say at most") {
  Index calls = 0;
  const Kernel kernel =
      with(toy_kernel(), [&](const Problem&, const Inputs&, Attention&) { ++calls; });
  tested(kernel, chunk());
  CHECK(calls == kPoisonRuns);
}

TEST_CASE("NaN in the outputs of a clean run is compared by bits") {
  const Kernel kernel = with(
      toy_kernel(), [](const Problem&, const Inputs&, Attention& got) { got.out.data[0] = kNan; });
  const PoisonTest found = tested(kernel, chunk());
  CHECK(found.deterministic);
  CHECK(found.dead.clean());
}
