#include "verify/judge.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "error.hpp"
#include "kernels.hpp"

using namespace swa;

namespace {

constexpr Checks kAll{Checks::When::always, Checks::When::always, true, 0};

Problem windowed(Index n_q, Index n_k, Index W) {
  Problem p;
  p.n_q = n_q;
  p.n_k = n_k;
  p.window = Window::causal(W);
  p.head_dim = 16;
  return p;
}

Verdict judged(const Kernel& kernel, const Problem& p, const Checks& checks = kAll) {
  const Inputs inputs = make_inputs(p);
  return judge(kernel, p, inputs, dense_oracle(p, inputs), checks);
}

// Whether a call is of a probe: all queries are 0.
bool is_probe(const Inputs& in) {
  return std::all_of(in.q.data.begin(), in.q.data.end(), [](double x) { return x == 0; });
}

}  // namespace

TEST_CASE("a verdict with all checks holds every part of them") {
  const Problem p = windowed(40, 90, 20);
  const Verdict right = judged(toy_kernel(), p);
  CHECK(right.kernel == "toy");
  CHECK(right.status == Status::pass);
  CHECK(right.reason.empty());
  CHECK(right.compared());
  CHECK_FALSE(right.is_no());
  CHECK(right.output.elements == 40 * 16);
  CHECK(right.lse.elements == 40);
  REQUIRE(right.probed);
  CHECK(right.probed->rows.size() == 40);
  REQUIRE(right.mask);
  CHECK(right.mask->exact());
  REQUIRE(right.poison);
  CHECK(right.poison->pass(0));
  CHECK(right.left_out.empty());
  CHECK(right.diagnoses.empty());
  CHECK_FALSE(right.diagnosed);
}

TEST_CASE("numbers only does nothing else") {
  int calls = 0;
  const Kernel kernel = with(toy_kernel([](const Mask& m, Index, Index row, Index key) {
                               return sees(m, row, key) && key != 70;
                             }),
                             [&](const Problem&, const Inputs&, Attention&) { ++calls; });
  const Verdict verdict = judged(kernel, windowed(40, 90, 20), kNumbersOnly);
  CHECK(calls == 1);
  CHECK(verdict.status == Status::fail);
  CHECK_FALSE(verdict.probed);
  CHECK_FALSE(verdict.mask);
  CHECK_FALSE(verdict.poison);
  CHECK(verdict.left_out.empty());
  CHECK_FALSE(verdict.diagnosed);
  CHECK(verdict.diagnoses.empty());
}

TEST_CASE("each check alone makes a kernel fail") {
  const Problem p = windowed(40, 90, 20);
  // Right in numbers, wrong in the probe: the window is ignored where all scores are equal.
  Kernel probe_fails = toy_kernel();
  probe_fails.run = [right = toy_kernel().run,
                     wrong = toy_kernel([](const Mask& m, Index, Index row, Index key) {
                               return key <= m.q_offset + row;
                             }).run](const Problem& problem, const Inputs& in, Attention& got) {
    (is_probe(in) ? wrong : right)(problem, in, got);
  };
  const Verdict by_probe = judged(probe_fails, p);
  CHECK(by_probe.output.pass());
  CHECK(by_probe.lse.pass());
  CHECK(by_probe.poison->pass({}));
  CHECK_FALSE(by_probe.mask->exact());
  CHECK(by_probe.status == Status::fail);
  CHECK(by_probe.is_no());

  // Key 3 is dead.
  const Verdict by_poison = judged(
      with(toy_kernel(), [](const Problem&, const Inputs& in,
                            Attention& got) { got.out.data[0] += 0 * in.v.row(0, 0, 3)[0]; }),
      p);
  CHECK(by_poison.output.pass());
  CHECK(by_poison.mask->exact());
  CHECK_FALSE(by_poison.poison->pass({}));
  CHECK(by_poison.status == Status::fail);

  const auto wrong_lse = [](const Problem&, const Inputs& in, Attention& got) {
    if (!is_probe(in)) got.lse.data[0] += 0.1;
  };
  const Verdict by_lse = judged(with(toy_kernel(), wrong_lse), p);
  CHECK(by_lse.output.pass());
  CHECK_FALSE(by_lse.lse.pass());
  CHECK(by_lse.mask->exact());
  CHECK(by_lse.status == Status::fail);
}

TEST_CASE("a declared granule is held to") {
  const Problem p = windowed(40, 90, 20);
  Kernel kernel = cpu_kernels({16, 16}).front();
  REQUIRE(kernel.granule == 15);
  const Verdict honest = judged(kernel, p);
  CHECK(honest.status == Status::pass);
  REQUIRE(honest.poison->isolation.granule > 1);
  kernel.granule = honest.poison->isolation.granule - 1;
  CHECK(judged(kernel, p).status == Status::fail);
  kernel.granule.reset();
  CHECK(judged(kernel, p).status == Status::pass);
}

TEST_CASE("what a kernel throws while it is probed or poisoned is the reason of an error") {
  const Problem p = windowed(20, 30, 5);
  const Verdict in_probe = judged(with(toy_kernel(),
                                       [](const Problem&, const Inputs& in, Attention&) {
                                         if (is_probe(in)) throw std::runtime_error("no zeros");
                                       }),
                                  p);
  CHECK(in_probe.status == Status::error);
  CHECK(in_probe.reason == "no zeros");
  CHECK(in_probe.is_no());
  CHECK_FALSE(in_probe.compared());
  CHECK_FALSE(in_probe.probed);
  int calls = 0;
  const Checks poison_only{Checks::When::never, Checks::When::always, true, 0};
  const Verdict in_poison = judged(with(toy_kernel(),
                                        [&](const Problem&, const Inputs&, Attention&) {
                                          if (++calls == 3) throw std::runtime_error("enough");
                                        }),
                                   p, poison_only);
  CHECK(in_poison.status == Status::error);
  CHECK(in_poison.reason == "enough");
}

TEST_CASE("an unsupported problem is not run and a question that has no answer is thrown") {
  Kernel kernel = toy_kernel();
  kernel.unsupported = [](const Problem&) { return "no windows"; };
  kernel.run = [](const Problem&, const Inputs&, Attention&) { FAIL("it ran"); };
  const Verdict verdict = judged(kernel, windowed(20, 30, 5));
  CHECK(verdict.status == Status::unsupported);
  CHECK(verdict.reason == "no windows");
  CHECK_FALSE(verdict.is_no());

  Problem p = windowed(1, 16384, 2);
  p.dtype = Dtype::fp8_e4m3;
  CHECK_THROWS_AS(judged(toy_kernel(), p), UsageError);
  Checks checks = kAll;
  checks.probe = Checks::When::if_small;
  checks.poison = Checks::When::never;
  const Verdict left = judged(toy_kernel(), p, checks);
  CHECK(left.compared());
  REQUIRE(left.left_out.size() == 1);
  CHECK(left.left_out[0] == "the probe: fp8_e4m3 tells at most 16383 keys apart");
}

TEST_CASE("checks of a large problem are left out and the verdict says so") {
  int calls = 0;
  Kernel kernel = toy_kernel();
  kernel.run = [&](const Problem&, const Inputs&, Attention&) { ++calls; };  // writes nothing
  Problem p = windowed(4000, 4000, 512);
  p.heads_q = p.heads_kv = 4;
  const Inputs inputs = make_inputs(p);
  Oracle expected;
  static_cast<Attention&>(expected) = poisoned_outputs(p);
  expected.abs_output = expected.out;
  expected.rows.resize(static_cast<std::size_t>(p.heads_q * p.n_q));
  const Verdict verdict = judge(kernel, p, inputs, expected, Checks{});
  CHECK(calls == 1);
  CHECK(verdict.status == Status::fail);
  CHECK_FALSE(verdict.probed);
  CHECK_FALSE(verdict.poison);
  CHECK_FALSE(verdict.diagnosed);
  REQUIRE(verdict.left_out.size() == 3);
  CHECK(verdict.left_out[0].starts_with("the probe: "));
  CHECK(verdict.left_out[1].starts_with("the poison tests: 17 calls"));
  CHECK(verdict.left_out[2].starts_with("the diagnosis: "));
}

TEST_CASE("a probe of sampled rows is part of a verdict") {
  Checks checks = kAll;
  checks.rows = 6;
  const Verdict verdict =
      judged(planted_kernel(windowed(90, 90, 20), {16, 16}, {&fault("window-one-too-wide")}),
             windowed(90, 90, 20), checks);
  REQUIRE(verdict.probed);
  CHECK(verdict.probed->rows.size() == 6);
  CHECK_FALSE(verdict.probed->all_rows);
  CHECK(verdict.mask->extra == 4);  // rows 0 and 19 have none
  REQUIRE_FALSE(verdict.diagnoses.empty());
  CHECK(verdict.diagnoses[0].name() == "window-one-too-wide");
}

TEST_CASE("a fault that depends on tiles is found where the tile is not known") {
  const Problem p = windowed(200, 200, 70);
  Kernel kernel = planted_kernel(p, {32, 32}, {&fault("no-mask-in-first-tile")});
  kernel.tile = nullptr;
  const Verdict verdict = judged(kernel, p);
  CHECK(verdict.status == Status::fail);
  REQUIRE_FALSE(verdict.diagnoses.empty());
  CHECK(verdict.diagnoses[0].name() == "no-mask-in-first-tile");
}

TEST_CASE("every status has a name of its own") {
  CHECK(name(Status::pass) == "pass");
  CHECK(name(Status::fail) == "fail");
  CHECK(name(Status::mistrusted) == "mistrusted");
  CHECK(name(Status::unsupported) == "unsupported");
  CHECK(name(Status::error) == "error");
}
