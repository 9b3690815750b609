#include "verify/kernel.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "kernels/forward.hpp"
#include "reference/tiled.hpp"
#include "verify/judge.hpp"

using namespace swa;

namespace {

Problem case_3(Index n_q, Index n_k, Index W) {
  Problem p;
  p.heads_q = p.heads_kv = 2;
  p.n_q = n_q;
  p.n_k = n_k;
  p.window = Window::causal(W);
  return p;
}

Attention run_tiled(const Problem& p, const Inputs& inputs) {
  Attention out = poisoned_outputs(p);
  cpu_kernels({}).front().run(p, inputs, out);
  return out;
}

}  // namespace

TEST_CASE("Case 3's five cases in fp32: error under 1e-6 NaN without the guard in prefill alone") {
  struct Row {
    Problem problem;
    bool lost;
  };
  for (const Row& row : {Row{case_3(500, 500, 100), true}, Row{case_3(500, 500, 128), true},
                         Row{case_3(500, 500, 10'000), false}, Row{case_3(96, 600, 128), true},
                         Row{case_3(1, 600, 128), false}}) {
    CAPTURE(options(row.problem));
    const Inputs inputs = make_inputs(row.problem);
    const Comparison found =
        judge(cpu_kernels({}).front(), row.problem, inputs, dense_oracle(row.problem, inputs))
            .output;
    CHECK(found.pass());
    CHECK(found.nonfinite == 0);
    CHECK(found.error < 1e-6);

    TiledOptions unguarded;
    unguarded.guard = false;
    bool lost = false;
    for (const double x : tiled_forward<float>(row.problem, inputs, unguarded).out.data) {
      lost = lost || std::isnan(x);
    }
    CHECK(lost == row.lost);
  }
}

TEST_CASE("W = n_k W beyond n_k and no window agree bit for bit") {
  Problem p = case_3(500, 500, 500);
  const Inputs inputs = make_inputs(p);
  const auto run = [&](Window window) {
    p.window = window;
    return run_tiled(p, inputs).out.data;
  };
  const auto none = run(Window::global());
  CHECK(run(Window::causal(500)) == none);
  CHECK(run(Window::causal(10'000)) == none);
  CHECK(run(Window::causal(kMaxIndex)) == none);
}

TEST_CASE("W = 1 returns v") {
  const Problem p = case_3(70, 70, 1);
  const Inputs inputs = make_inputs(p);
  CHECK(run_tiled(p, inputs).out.data == inputs.v.data);
}

TEST_CASE("a sink logit adds to the denominator and no value") {
  Problem p = case_3(20, 20, 5);
  const Inputs plain = make_inputs(p);
  p.sink_logits = true;
  const Inputs with = make_inputs(p);
  REQUIRE(with.sink_logits.size() == 2);
  REQUIRE(with.v.data == plain.v.data);  // drawn after q, k and v
  Problem none = p;
  none.sink_logits = false;
  const Oracle base = dense_oracle(none, plain), sunk = dense_oracle(p, with);
  for (Index h = 0; h < 2; ++h) {
    for (Index row = 0; row < 20; ++row) {
      const double lse = base.lse.row(0, h, row)[0];
      const double weight = 1 / (1 + std::exp(with.sink_logits[static_cast<std::size_t>(h)] - lse));
      CHECK(sunk.out.row(0, h, row)[3] ==
            doctest::Approx(weight * base.out.row(0, h, row)[3]).epsilon(1e-12));
    }
  }
}

TEST_CASE("query head h reads kv head h / group") {
  Problem p;
  p.heads_q = 8;
  p.heads_kv = 2;
  p.n_q = p.n_k = 3;
  p.head_dim = 4;
  p.window = Window::causal(1);  // output is v of the kv head that was read
  const Inputs inputs = make_inputs(p);
  const Oracle result = dense_oracle(p, inputs);
  const Attention tiled = run_tiled(p, inputs);
  for (Index h = 0; h < 8; ++h) {
    CHECK(result.out.row(0, h, 2)[1] == inputs.v.row(0, h / 4, 2)[1]);
    CHECK(tiled.out.row(0, h, 2)[1] == inputs.v.row(0, h / 4, 2)[1]);
  }
}

TEST_CASE("a worked example by hand") {
  // Two keys, q = k1 = 1, k0 = 0, scale 1: weights e^0 and e^1.
  Problem p;
  p.n_q = 1;
  p.n_k = 2;
  p.head_dim = 1;
  p.scale = 1;
  Inputs inputs{Tensor<double>({1, 1, 1, 1}, 1),
                Tensor<double>({1, 1, 2, 1}),
                Tensor<double>({1, 1, 2, 1}),
                {}};
  inputs.k.data = {0, 1};
  inputs.v.data = {10, 20};
  const double e = std::exp(1.0);
  const Oracle result = dense_oracle(p, inputs);
  CHECK(result.out.data[0] == doctest::Approx((10 + 20 * e) / (1 + e)));
  CHECK(result.lse.data[0] == doctest::Approx(std::log(1 + e)));
  p.softcap = 0.5;
  const double t = 0.5 * std::tanh(2.0);
  CHECK(dense_oracle(p, inputs).out.data[0] ==
        doctest::Approx((10 + 20 * std::exp(t)) / (1 + std::exp(t))));
}

TEST_CASE("name patterns") {
  CHECK(matches("*", "cpu-tiled"));
  CHECK(matches("cpu-*", "cpu-tiled"));
  CHECK(matches("*tiled", "cpu-tiled"));
  CHECK(matches("c?u-tiled", "cpu-tiled"));
  CHECK(matches("cpu-tiled", "cpu-tiled"));
  CHECK_FALSE(matches("cpu", "cpu-tiled"));
  CHECK_FALSE(matches("", "cpu-tiled"));
  CHECK_FALSE(matches("sm90-*", "cpu-tiled"));
  CHECK(matches("*a*b*", "xaxxbx"));
  CHECK_FALSE(matches("*a*b", "xaxxbx"));
  CHECK_FALSE(matches(std::string(5000, '*') + "x", std::string(5000, 'a')));  // answers at once
  CHECK_FALSE(matches("*a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(2000, 'a')));
}

TEST_CASE("a build without GPU kernels says why") {
  if (gpu_kernels().empty()) CHECK_FALSE(gpu_absence().empty());
}
