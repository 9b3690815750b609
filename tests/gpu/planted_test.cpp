// Faults that are planted in GPU kernels are caught and named. Needs a GPU; says where there is
// none.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "gpu/here.hpp"
#include "kernels/forward.hpp"
#include "problem/cases.hpp"
#include "verify/judge.hpp"
#include "verify/traps.hpp"

using namespace swa;
using swa::test::has_gpu;

namespace {

Problem telling(Index head_dim) {
  Problem p;
  p.n_q = 300;
  p.n_k = 500;
  p.window = Window::causal(100);
  p.head_dim = head_dim;
  p.heads_q = 2;
  p.dtype = Dtype::bf16;
  return p;
}

std::string fault_of(const Kernel& kernel) {
  return kernel.name.substr(kPlantedGpu.size());
}

}  // namespace

TEST_CASE("gpu: each planted kernel is caught, and its fault is named by numbers and probe") {
  if (!has_gpu()) return;
  REQUIRE(planted_gpu_kernels().size() == planted_gpu_faults().size());
  for (const Index head_dim : {64, 128}) {
    const Problem p = telling(head_dim);
    const Inputs inputs = make_inputs(p);
    const Oracle expected = oracle(p, inputs);
    for (const Kernel& kernel : planted_gpu_kernels()) {
      CAPTURE(kernel.name);
      CAPTURE(head_dim);
      REQUIRE_FALSE(kernel.unsupported(p));
      const Verdict verdict = judge(kernel, p, inputs, expected, Checks());
      CHECK(verdict.status == Status::fail);
      REQUIRE_FALSE(verdict.diagnoses.empty());
      const Diagnosis& first = verdict.diagnoses.front();
      const bool same =
          std::any_of(first.equivalent.begin(), first.equivalent.end(),
                      [&](const FaultSet& other) { return name_of(other) == fault_of(kernel); });
      CHECK_MESSAGE((first.name() == fault_of(kernel) || same), first.name());
    }
  }
}

TEST_CASE(
    "gpu: without the guard rows are NaN in every prefill with a real window and only there") {
  if (!has_gpu()) return;
  for (const Kernel& kernel : planted_gpu_kernels()) {
    if (fault_of(kernel) != "nan-after-masked-tile") continue;
    for (Case c : read_cases(SWA_SOURCE_DIR "/data/cases/chapter.toml")) {
      Problem& p = c.problem;
      p.dtype = Dtype::bf16;
      const Inputs inputs = make_inputs(p);
      const UnguardedTrial trial = run_unguarded_trial(kernel, p, inputs, oracle(p, inputs));
      CAPTURE(c.name);
      CHECK(trial.same_rows);
      CHECK(trial.others_right);
      CHECK((trial.nan_rows > 0) == (p.n_q > 1 && p.window.width < p.n_k));
    }
  }
}
