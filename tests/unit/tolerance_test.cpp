// The bound against values worked by hand from its formula, and against kernels that are right but
// less exact than cpu-tiled.
#include "verify/tolerance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "verify/comparison.hpp"

using namespace swa;

namespace {

Problem problem_in(Dtype dtype) {
  Problem p;
  p.head_dim = 64;
  p.dtype = dtype;
  return p;
}

// 100 keys, scores up to 2, |v| up to 3, denominator 10.
constexpr RowFacts kRow{100, 2, 3, 10};

// A forward that stores its weights in the problem's 16-bit type, as tensor-core kernels do, and
// sums the denominator before that. One head.
Tensor<double> narrowed_forward(const Problem& p, const Inputs& inputs) {
  Tensor<double> out({1, 1, p.n_q, p.head_dim});
  for (Index row = 0; row < p.n_q; ++row) {
    std::vector<double> scores;
    double highest = -INFINITY, total = 0;
    for (Index key = 0; key < p.n_k; ++key) {
      double score = 0;
      for (Index d = 0; d < p.head_dim; ++d) {
        score += inputs.q.row(0, 0, row)[d] * inputs.k.row(0, 0, key)[d];
      }
      scores.push_back(sees(p.mask(), row, key) ? score * p.score_scale() : -INFINITY);
      highest = std::max(highest, scores.back());
    }
    for (Index key = 0; key < p.n_k; ++key) {
      const double weight = std::exp(scores[static_cast<std::size_t>(key)] - highest);
      total += weight;
      for (Index d = 0; d < p.head_dim; ++d) {
        out.row(0, 0, row)[d] += round_to(p.dtype, weight) * inputs.v.row(0, 0, key)[d];
      }
    }
    for (Index d = 0; d < p.head_dim; ++d) out.row(0, 0, row)[d] /= total;
  }
  round_to(stored_dtype(p.dtype), out.data);
  return out;
}

}  // namespace

TEST_CASE("the bound by hand") {
  const double u = 0x1p-24;
  // e = (84 * 2 + 132) u = 300 u. Runs of 64: D = 64 + (2 + 1) + 32 = 99. A = 0.5, o = 0.25.
  const Tolerance fp32(problem_in(Dtype::fp32), {64, 64});
  CHECK(fp32.of_output(kRow, 0.5, 0.25) ==
        doctest::Approx(2 * 399 * u * 0.5 + 0.25 * u).epsilon(1e-12));
  CHECK(fp32.of_lse(kRow, -7) == doctest::Approx(399 * u + 7 * u).epsilon(1e-12));
  // Runs of 16 to 256: D = 100 + (7 + 1) + 32 = 140.
  CHECK(Tolerance(problem_in(Dtype::fp32)).of_output(kRow, 0.5, -0.25) ==
        doctest::Approx(440 * u + 0.25 * u).epsilon(1e-12));
  // Weights are cut off, not rounded, and the output is in fp32.
  CHECK(Tolerance(problem_in(Dtype::tf32)).of_output(kRow, 0.5, 0.25) ==
        doctest::Approx(440 * u + 0x1p-10 * 0.5 + 0.25 * u).epsilon(1e-12));
  CHECK(Tolerance(problem_in(Dtype::bf16)).of_output(kRow, 0.5, 0.25) ==
        doctest::Approx(440 * u + 0x1p-8 * 0.75).epsilon(1e-12));
  CHECK(
      Tolerance(problem_in(Dtype::fp16)).of_output(kRow, 0.5, 0.25) ==
      doctest::Approx(440 * u + 0x1p-11 * 0.75 + 100 * 0x1p-25 * 3 / 10 + 0x1p-25).epsilon(1e-12));
  CHECK(Tolerance(problem_in(Dtype::fp64)).of_output(kRow, 0.5, 0.25) ==
        doctest::Approx(440 * 0x1p-52 + 0.25 * 0x1p-53).epsilon(1e-12));
}

TEST_CASE("the formula shows the numbers that are applied") {
  CHECK(Tolerance(problem_in(Dtype::fp32), {64, 64}).formula() ==
        "|error| <= (2 (84 M + min(n, 64) + n/64 + 166) 2^-24) A + 2^-24 |o| + 2^-150");
  CHECK(Tolerance(problem_in(Dtype::fp16)).formula() ==
        "|error| <= (2 (84 M + min(n, 256) + n/16 + 166) 2^-24 + 2^-11) A + n 2^-25 V / l + "
        "2^-11 |o| + 2^-25");
}

TEST_CASE("a right kernel that narrows its weights passes") {
  for (const Dtype dtype : {Dtype::tf32, Dtype::bf16, Dtype::fp16}) {
    for (const Index W : {1, 3, 50, 400}) {
      Problem p = problem_in(dtype);
      p.n_q = p.n_k = 400;
      p.window = Window::causal(W);
      const Inputs inputs = make_inputs(p);
      const Comparison found =
          compare_output(dense_oracle(p, inputs), Tolerance(p), narrowed_forward(p, inputs));
      CAPTURE(options(p));
      CHECK(found.pass());
    }
  }
}

TEST_CASE("weights too small for fp16 are allowed to vanish") {
  // One key of v = 0 and many that score 17.4 less, with v = 1: in fp16 each of their weights is 0.
  Problem p = problem_in(Dtype::fp16);
  p.n_q = 1;
  p.n_k = 20'000;
  p.head_dim = 1;
  p.scale = 1;
  Inputs inputs{Tensor<double>({1, 1, 1, 1}, 1),
                Tensor<double>({1, 1, p.n_k, 1}, -17.40625),
                Tensor<double>({1, 1, p.n_k, 1}, 1),
                {}};
  inputs.k.data[0] = inputs.v.data[0] = 0;
  const Oracle expected = dense_oracle(p, inputs);
  REQUIRE(expected.out.data[0] > 5e-4);
  const Tensor<double> got = narrowed_forward(p, inputs);
  REQUIRE(got.data[0] == 0);
  CHECK(compare_output(expected, Tolerance(p), got).pass());
}
