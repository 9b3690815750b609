// The comparator must fail what is wrong: it is tested before it is trusted.
#include "verify/comparison.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>

#include "verify/judge.hpp"

using namespace swa;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Setup {
  Problem problem;
  Inputs inputs;
  Oracle oracle;

  Setup() {
    problem.batch = 2;
    problem.heads_q = problem.heads_kv = 2;
    problem.n_q = problem.n_k = 40;
    problem.head_dim = 8;
    problem.window = Window::causal(7);
    inputs = make_inputs(problem);
    oracle = dense_oracle(problem, inputs);
  }

  Comparison compare(const Tensor<double>& out) const {
    return compare_output(oracle, Tolerance(problem), out);
  }
};

}  // namespace

TEST_CASE("the oracle's own output passes with error 0") {
  const Setup s;
  const Comparison found = s.compare(s.oracle.out);
  CHECK(found.pass());
  CHECK(found.error == 0);
  CHECK(found.elements == 2 * 2 * 40 * 8);
}

TEST_CASE("one NaN one infinity one wrong element fail and are located") {
  const Setup s;
  for (const double wrong : {kNan, kInfinity, -kInfinity, 0.5, -1e300}) {
    CAPTURE(wrong);
    Tensor<double> out = s.oracle.out;
    out.row(1, 0, 33)[5] = wrong;
    const Comparison found = s.compare(out);
    CHECK_FALSE(found.pass());
    CHECK(found.mismatches == 1);
    CHECK(found.nonfinite == (std::isfinite(wrong) ? 0 : 1));
    CHECK(found.worst == std::array<Index, 4>{1, 0, 33, 5});
    CHECK(found.first_mismatch == std::array<Index, 4>{1, 0, 33, 5});
    CHECK(std::isnan(found.error) == !std::isfinite(wrong));
  }
}

TEST_CASE("an error just inside the bound passes just beyond it fails with either sign") {
  const Setup s;
  const double expected = s.oracle.out.row(0, 1, 20)[3];
  const double bound = Tolerance(s.problem).of_output(
      s.oracle.row_facts(0, 1, 20), s.oracle.abs_output.row(0, 1, 20)[3], expected);
  for (const double sign : {1.0, -1.0}) {
    Tensor<double> out = s.oracle.out;
    out.row(0, 1, 20)[3] = expected + sign * 0.99 * bound;
    CHECK(s.compare(out).pass());
    out.row(0, 1, 20)[3] = expected + sign * 1.01 * bound;
    CHECK_FALSE(s.compare(out).pass());
  }
}

TEST_CASE("an infinite NaN-free bound does not hide a NaN") {
  const Setup s;
  Oracle loose = s.oracle;
  for (RowFacts& row : loose.rows) row.score_bound = kInfinity;
  Tensor<double> out = s.oracle.out;
  out.data[0] = kNan;
  CHECK_FALSE(compare_output(loose, Tolerance(s.problem), out).pass());
}

TEST_CASE("all zeros all NaN and swapped heads fail") {
  const Setup s;
  CHECK_FALSE(s.compare(Tensor<double>(s.oracle.out.shape)).pass());
  const Comparison poison = s.compare(Tensor<double>(s.oracle.out.shape, kNan));
  CHECK(poison.mismatches == poison.elements);
  CHECK(poison.nonfinite == poison.elements);

  Tensor<double> swapped = s.oracle.out;
  for (Index b = 0; b < 2; ++b) {
    std::swap_ranges(swapped.row(b, 0, 0), swapped.row(b, 1, 0), swapped.row(b, 1, 0));
  }
  CHECK_FALSE(s.compare(swapped).pass());
}

TEST_CASE("tensors of another shape are a defect not a verdict") {
  const Setup s;
  CHECK_THROWS_AS(s.compare(Tensor<double>({2, 2, 40, 4})), std::logic_error);
}

TEST_CASE("rows that see nothing: output 0 and lse -inf and nothing else") {
  Setup s;
  s.problem.batch = s.problem.heads_q = s.problem.heads_kv = 1;
  s.problem.n_q = 24;
  s.problem.n_k = 9;
  s.problem.window = Window::causal(4);
  s.inputs = make_inputs(s.problem);
  s.oracle = dense_oracle(s.problem, s.inputs);
  for (Index row = 0; row < 15; ++row) {
    CHECK(s.oracle.lse.row(0, 0, row)[0] == -kInfinity);
    for (Index d = 0; d < s.problem.head_dim; ++d) CHECK(s.oracle.out.row(0, 0, row)[d] == 0);
  }
  CHECK(s.oracle.lse.row(0, 0, 15)[0] > -kInfinity);

  Tensor<double> mean_of_v = s.oracle.out;
  mean_of_v.row(0, 0, 3)[0] = 0.1;
  CHECK_FALSE(s.compare(mean_of_v).pass());
  for (const double wrong : {0.0, kInfinity, kNan, -1e30}) {
    Tensor<double> lse = s.oracle.lse;
    lse.row(0, 0, 3)[0] = wrong;
    CHECK_FALSE(compare_lse(s.oracle, Tolerance(s.problem), lse).pass());
  }
  CHECK(compare_lse(s.oracle, Tolerance(s.problem), s.oracle.lse).pass());
}

TEST_CASE("off by one is seen at every window in fp32") {
  for (const Index W : {1, 2, 7, 64, 512, 4096}) {
    CAPTURE(W);
    Problem p;
    p.n_q = 64;
    p.n_k = 2 * W + 64;
    p.window = Window::causal(W);
    const Inputs inputs = make_inputs(p);
    const Oracle right = dense_oracle(p, inputs);
    for (const Index wrong : {W - 1, W + 1}) {
      if (wrong == 0) continue;
      Problem other = p;
      other.window = Window::causal(wrong);
      CHECK_FALSE(compare_output(right, Tolerance(p), dense_oracle(other, inputs).out).pass());
    }
  }
}

namespace {

// A kernel that writes what `change` makes of the oracle's own result.
Kernel made_of(const Oracle& oracle, const std::function<void(Attention&)>& change) {
  Kernel kernel;
  kernel.name = "made";
  kernel.unsupported = [](const Problem&) { return std::nullopt; };
  kernel.run = [&oracle, change](const Problem&, const Inputs&, Attention& out) {
    out = oracle;
    change(out);
  };
  return kernel;
}

}  // namespace

TEST_CASE("verdicts: pass, fail, unsupported, error") {
  const Setup s;
  const auto status = [&](const std::function<void(Attention&)>& change) {
    return judge(made_of(s.oracle, change), s.problem, s.inputs, s.oracle).status;
  };
  CHECK(status([](Attention&) {}) == Status::pass);
  CHECK(status([](Attention& out) { out.out.data[9] += 1; }) == Status::fail);
  CHECK(status([](Attention& out) { out.lse.data[9] += 1; }) == Status::fail);
  CHECK(status([](Attention& out) { out.lse = {}; }) == Status::pass);  // returns no lse
  CHECK(status([](Attention&) { throw std::bad_alloc(); }) == Status::error);
  Kernel choosy = made_of(s.oracle, [](Attention&) {});
  choosy.unsupported = [](const Problem&) { return "no"; };
  CHECK(judge(choosy, s.problem, s.inputs, s.oracle).status == Status::unsupported);
}

TEST_CASE("an element that a kernel never writes is found") {
  const Setup s;
  Kernel lazy = made_of(s.oracle, [](Attention&) {});
  lazy.run = [&](const Problem&, const Inputs&, Attention& out) {
    for (std::size_t i = 0; i + 1 < out.out.data.size(); ++i)
      out.out.data[i] = s.oracle.out.data[i];
    out.lse = s.oracle.lse;
  };
  const Verdict verdict = judge(lazy, s.problem, s.inputs, s.oracle);
  CHECK(verdict.status == Status::fail);
  CHECK(verdict.output.nonfinite == 1);
}

TEST_CASE("zeros never pass for pass: long rows and every dtype") {
  for (const Dtype dtype : {Dtype::fp64, Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
    for (const Index n_k : {1, 100, 10'000, 1'000'000}) {
      for (const Index head_dim : {1, 16}) {
        Problem p;
        p.n_q = 1;
        p.n_k = n_k;
        p.head_dim = head_dim;
        p.dtype = dtype;
        CAPTURE(options(p));
        const Inputs inputs = make_inputs(p);
        const Oracle right = band_oracle(p, inputs);
        const Kernel zeros = made_of(right, [](Attention& out) {
          std::fill(out.out.data.begin(), out.out.data.end(), 0.0);
        });
        CHECK(judge(zeros, p, inputs, right).status != Status::pass);
      }
    }
  }
}

TEST_CASE("scores beyond fp32 are unsupported and not blamed on the kernel") {
  Problem p;
  p.n_q = p.n_k = 8;
  p.scale = 1e38;
  const Inputs inputs = make_inputs(p);
  const Oracle right = dense_oracle(p, inputs);
  CHECK(judge(cpu_kernels({}).front(), p, inputs, right).status == Status::unsupported);
  p.scale = 1e30;
  CHECK(judge(cpu_kernels({}).front(), p, inputs, dense_oracle(p, inputs)).status ==
        Status::mistrusted);
}
