#include "verify/diagnosis.hpp"

#include <doctest/doctest.h>

#include <array>
#include <random>

#include "kernels.hpp"
#include "verify/judge.hpp"

using namespace swa;

namespace {

constexpr TileShape kTile{16, 16};
constexpr Checks kProbed{Checks::When::always, Checks::When::never, true, 0};

Problem windowed(Index n_q, Index n_k, Index W) {
  Problem p;
  p.n_q = n_q;
  p.n_k = n_k;
  p.window = Window::causal(W);
  p.head_dim = 32;
  return p;
}

Verdict judged(const Kernel& kernel, const Problem& p, const Checks& checks = kProbed) {
  const Inputs inputs = make_inputs(p);
  return judge(kernel, p, inputs, dense_oracle(p, inputs), checks);
}

bool names(const Diagnosis& d, const FaultSet& planted) {
  return d.faults == planted ||
         std::find(d.equivalent.begin(), d.equivalent.end(), planted) != d.equivalent.end();
}

}  // namespace

TEST_CASE("a diagnosis names the fault and says what to do") {
  const Problem p = windowed(40, 160, 48);
  const Verdict verdict = judged(planted_kernel(p, kTile, {&fault("window-one-too-wide")}), p);
  CHECK(verdict.diagnosed);
  REQUIRE(verdict.diagnoses.size() == 1);
  const Diagnosis& found = verdict.diagnoses[0];
  CHECK(found.name() == "window-one-too-wide");
  CHECK(found.meaning() == "every window holds one key too many");
  CHECK(found.remedy(p).find("pass 47, not 48") != std::string::npos);
  CHECK(found.distance <= 1);
  CHECK(found.confidence() == "certain");
}

TEST_CASE("pairs of faults are named") {
  const auto named = [](const Problem& p, const char* first, const char* second) {
    const FaultSet planted{&fault(first), &fault(second)};
    CAPTURE(first);
    CAPTURE(second);
    const Verdict verdict = judged(planted_kernel(p, kTile, planted), p);
    CHECK(verdict.status == Status::fail);
    REQUIRE_FALSE(verdict.diagnoses.empty());
    const FaultSet in_order{std::min(planted[0], planted[1]), std::max(planted[0], planted[1])};
    CHECK(names(verdict.diagnoses[0], in_order));
    CHECK(verdict.diagnoses[0].name() == verdict.diagnoses[0].faults[0]->name.data() +
                                             std::string("+") +
                                             verdict.diagnoses[0].faults[1]->name.data());
    CHECK(verdict.diagnoses[0].meaning().find("; and ") != std::string::npos);
  };
  named(windowed(20, 60, 13), "window-one-too-wide", "scale-missing");
  Problem p = windowed(20, 60, 13);
  p.softcap = 1;
  p.scale = 0.5;
  named(p, "top-left", "softcap-missing");
  p = windowed(12, 40, 9);
  p.heads_q = 4;
  p.heads_kv = 2;
  named(p, "kv-head-modulo", "window-ignored");
}

TEST_CASE("a kernel that no known fault explains gets no diagnosis") {
  const Problem p = windowed(30, 60, 13);
  const Verdict negated = judged(with(toy_kernel(),
                                      [](const Problem&, const Inputs&, Attention& got) {
                                        for (double& x : got.out.data) x = -x;
                                      }),
                                 p);
  CHECK(negated.status == Status::fail);
  CHECK(negated.diagnosed);
  CHECK(negated.diagnoses.empty());
  const Verdict random =
      judged(toy_kernel([](const Mask& m, Index, Index row, Index key) {
               return sees(m, row, key) && (row * 7919 + key * 104729) % 31 % 3 != 0;
             }),
             p);
  CHECK(random.status == Status::fail);
  CHECK(random.diagnosed);
  CHECK(random.diagnoses.empty());
}

TEST_CASE("a right kernel is not accused in any dtype") {
  for (const Dtype dtype : {Dtype::fp64, Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
    Problem p = windowed(40, 90, 20);
    p.dtype = dtype;
    p.heads_q = 4;
    p.heads_kv = 2;
    for (const Kernel& kernel : {toy_kernel(), cpu_kernels(kTile).front()}) {
      const Inputs inputs = make_inputs(p);
      const Oracle oracle = dense_oracle(p, inputs);
      CHECK(judge(kernel, p, inputs, oracle, kProbed).status == Status::pass);
      Attention got = poisoned_outputs(p);
      kernel.run(p, inputs, got);
      const Probe probed = probe(kernel, p);
      Hypotheses hypotheses(p, kTile, {}, inputs, oracle);
      for (const Observation& seen : {Observation{&got, nullptr}, Observation{nullptr, &probed},
                                      Observation{&got, &probed}}) {
        const std::vector<Evidence> evidence{{&hypotheses, seen}};
        CHECK(diagnose(evidence, all_faults()).empty());
        CHECK(diagnose_pairs(evidence, 1e12).empty());
      }
    }
  }
}

TEST_CASE("a mask alone names a window of one key too many at 2048 tokens") {
  Problem p = windowed(2048, 2048, 512);
  p.head_dim = 1;
  p.head_dim_v = 256;  // few launches
  p.dtype = Dtype::bf16;
  const Probe found = probe(planted_kernel(p, {64, 64}, {&fault("window-one-too-wide")}), p);
  CHECK(compare_mask(p, found).extra == 2048 - 512);
  const Inputs inputs;
  const Oracle oracle;
  Hypotheses hypotheses(p, {64, 64}, {}, inputs, oracle);
  const auto diagnoses = diagnose({{&hypotheses, {nullptr, &found}}}, all_faults());
  REQUIRE(diagnoses.size() == 1);  // and nothing that a mask does not show
  CHECK(diagnoses[0].name() == "window-one-too-wide");
  CHECK(diagnoses[0].confidence() == "certain");
}

TEST_CASE("a mask alone says nothing of rows that are NaN or out of k") {
  const Problem p = windowed(40, 40, 9);
  const Inputs inputs;
  const Oracle oracle;
  Hypotheses hypotheses(p, kTile, {}, inputs, oracle);
  for (const char* name : {"k-and-v-swapped", "nan-after-masked-tile"}) {
    CAPTURE(name);
    const Probe found = probe(planted_kernel(p, kTile, {&fault(name)}), p);
    REQUIRE_FALSE(compare_mask(p, found).exact());
    CHECK(diagnose({{&hypotheses, {nullptr, &found}}}, all_faults()).empty());
  }
}

TEST_CASE("a mask alone lists faults that come to the same mask as equivalent") {
  const Problem p = windowed(1, 60, 9);
  const Probe found = probe(planted_kernel(p, kTile, {&fault("window-ignored")}), p);
  const Inputs inputs;
  const Oracle oracle;
  Hypotheses hypotheses(p, kTile, {}, inputs, oracle);
  const auto diagnoses = diagnose({{&hypotheses, {nullptr, &found}}}, all_faults());
  REQUIRE(diagnoses.size() == 1);
  CHECK(names(diagnoses[0], {&fault("window-ignored")}));
  CHECK(names(diagnoses[0], {&fault("window-ignored-in-decode")}));
  CHECK_FALSE(names(diagnoses[0], {&fault("window-one-too-wide")}));
}

TEST_CASE("a fault whose bound is so wide that zeros would agree is no explanation") {
  // Scaled twice, scores are some 10^7, of which fp32 tells nothing.
  Problem p = windowed(30, 30, 4);
  p.scale = 1000;
  p.head_dim_v = 1;
  const Kernel kernel = with(planted_kernel(p, kTile, {&fault("window-one-too-narrow")}),
                             [](const Problem&, const Inputs&, Attention& got) {
                               got.lse.data.clear();  // which would tell the scale
                             });
  const Verdict verdict = judged(kernel, p, {Checks::When::never, Checks::When::never, true, 0});
  CHECK(verdict.status == Status::fail);
  REQUIRE(verdict.diagnoses.size() == 1);
  CHECK(verdict.diagnoses[0].name() == "window-one-too-narrow");
}

TEST_CASE("k and v that are swapped are named where one is much larger") {
  Problem p = windowed(30, 60, 13);
  p.inputs = Recipe::large;
  p.scale = 1e-4;
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    p.dtype = dtype;
    const Verdict verdict = judged(planted_kernel(p, kTile, {&fault("k-and-v-swapped")}), p);
    REQUIRE_FALSE(verdict.diagnoses.empty());
    CHECK(verdict.diagnoses[0].name() == "k-and-v-swapped");
  }
}

TEST_CASE("one key too many in a window of 512 fails the numbers alone in bf16") {
  Problem p = windowed(2048, 2048, 512);
  p.head_dim = 64;
  p.dtype = Dtype::bf16;
  const Verdict verdict =
      judged(planted_kernel(p, {64, 64}, {&fault("window-one-too-wide")}), p, kNumbersOnly);
  CHECK(verdict.status == Status::fail);
  CHECK(verdict.output.mismatches > 0);
  CHECK(judged(planted_kernel(p, {64, 64}, {}), p, kNumbersOnly).status == Status::pass);
}

TEST_CASE("a scale of 0 makes no fault of the scale agree with everything") {
  Problem p = windowed(30, 60, 13);
  p.scale = 0;
  const Verdict verdict = judged(planted_kernel(p, kTile, {&fault("window-one-too-wide")}), p,
                                 {Checks::When::never, Checks::When::never, true, 0});
  REQUIRE_FALSE(verdict.diagnoses.empty());
  CHECK(verdict.diagnoses[0].name() == "window-one-too-wide");
  CHECK(verdict.diagnoses.size() == 1);
}
