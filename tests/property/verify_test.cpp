// Right kernels are never accused, and planted faults are always found.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "kernels.hpp"
#include "problem/cases.hpp"
#include "problem/random_problems.hpp"
#include "verify/judge.hpp"
#include "verify/kill_matrix.hpp"

using namespace swa;

namespace {

// Sanitizers make the code some ten times slower.
#ifdef SWA_SANITIZED
constexpr int kProblems = 500;
#else
constexpr int kProblems = 10'000;
#endif

std::vector<Case> full_suite() {
  return read_cases(SWA_SOURCE_DIR "/data/cases/full.toml");
}

bool lists(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("cpu-tiled is not accused on any of many random problems") {
  RandomProblems problems(51, {64, 16});
  const Checks all{Checks::When::always, Checks::When::always, true, 0};
  for (int i = 0; i < kProblems; ++i) {
    Problem p = problems.next();
    p.dtype = std::array{Dtype::fp64, Dtype::fp32, Dtype::bf16, Dtype::fp16}[i % 4];
    const Index size = problems.pick({16, 64});
    const Inputs inputs = make_inputs(p);
    const Verdict verdict =
        judge(cpu_kernels({size, size}).front(), p, inputs, dense_oracle(p, inputs), all);
    CAPTURE(options(p));
    REQUIRE((verdict.status == Status::pass || verdict.status == Status::mistrusted));
    REQUIRE(verdict.output.pass());
    REQUIRE(verdict.mask->exact());
    REQUIRE(verdict.poison->deterministic);
    REQUIRE(verdict.poison->dead.clean());
    REQUIRE(verdict.diagnoses.empty());
  }
}

TEST_CASE("the full suite kills every fault and the diagnosis names it") {
  const std::vector<Case> cases = full_suite();
  const auto begin = std::chrono::steady_clock::now();
  const KillMatrix matrix = kill_matrix(cases, {64, 64});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  MESSAGE("the kill matrix took ", seconds.count(), " s");  // two idle cores: less than 10
  CHECK(matrix.false_accusations.empty());
  REQUIRE(matrix.faults.size() == faults().size());
  for (const KillRow& row : matrix.faults) {
    CAPTURE(row.planted->name);
    CAPTURE(row.diagnosed_as);
    CHECK_FALSE(row.survives());
    CHECK((row.named() || lists(row.equivalent_to, row.planted->name)));
    CHECK(std::is_sorted(row.killed_by.begin(), row.killed_by.end()));
  }
}

TEST_CASE("a suite without the cases that show a fault lets it survive") {
  std::vector<Case> cases = full_suite();
  std::erase_if(cases, [](const Case& c) {
    return c.problem.sinks > 0 || c.problem.softcap > 0 || c.problem.n_q > c.problem.n_k ||
           c.problem.group() > 1 || c.problem.has_lengths() || c.problem.n_k > 1000;
  });
  REQUIRE(cases.size() > 10);
  std::vector<std::string_view> told;
  const KillMatrix matrix =
      kill_matrix(cases, {64, 64}, [&](const Fault& f) { told.push_back(f.name); });
  CHECK(told.size() == faults().size());
  CHECK(matrix.false_accusations.empty());
  std::vector<std::string> survivors;
  for (const KillRow& row : matrix.faults) {
    if (!row.survives()) continue;
    survivors.emplace_back(row.planted->name);
    CHECK(row.diagnosed_as.empty());
    CHECK_FALSE(row.named());
  }
  for (const char* name :
       {"sink-tokens-missing", "softcap-missing", "empty-row-nan", "kv-head-modulo",
        "lengths-ignored", "document-boundary-crossed", "packed-row-as-position"}) {
    CAPTURE(name);
    CHECK(lists(survivors, name));
  }
  for (const char* name : {"window-one-too-wide", "top-left", "scale-missing", "rope-twice"}) {
    CAPTURE(name);
    CHECK_FALSE(lists(survivors, name));
  }
}

TEST_CASE("every fault is named on one small problem by probe and numbers") {
  std::vector<Case> cases = full_suite();
  std::stable_sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) {
    return visible_pairs_of(a.problem) < visible_pairs_of(b.problem);
  });
  std::vector<Inputs> inputs;
  std::vector<Oracle> oracles;
  for (const Case& c : cases) {
    inputs.push_back(make_inputs(c.problem));
    oracles.push_back(oracle(c.problem, inputs.back()));
  }
  const Checks checks{Checks::When::always, Checks::When::never, true, 0};
  for (const Fault& f : faults()) {
    CAPTURE(f.name);
    bool named = false;
    for (std::size_t i = 0; i < cases.size() && !named; ++i) {
      const Kernel kernel = planted_kernel(cases[i].problem, {64, 64}, {&f});
      if (judge(kernel, cases[i].problem, inputs[i], oracles[i]).status == Status::pass) continue;
      const Verdict verdict = judge(kernel, cases[i].problem, inputs[i], oracles[i], checks);
      if (verdict.diagnoses.empty()) continue;
      const Diagnosis& first = verdict.diagnoses[0];
      named = first.faults == FaultSet{&f} ||
              std::find(first.equivalent.begin(), first.equivalent.end(), FaultSet{&f}) !=
                  first.equivalent.end();
    }
    CHECK(named);
  }
}
