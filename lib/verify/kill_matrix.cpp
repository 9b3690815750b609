#include "verify/kill_matrix.hpp"

#include <memory>
#include <mutex>

#include "parallel.hpp"
#include "verify/comparison.hpp"
#include "verify/diagnosis.hpp"
#include "verify/fault_trial.hpp"

namespace swa {
namespace {

// A case, and what every fault would do there.
struct Target {
  TrialGround ground;
  Hypotheses hypotheses;

  Target(const Problem& problem, TileShape tile)
      : ground(problem, tile),
        hypotheses(ground.problem(), tile, ground.sums(), ground.inputs(), ground.oracle()) {
    hypotheses.prepare();
  }

  Attention run(const FaultSet& planted) const {
    return run_plan(plan_of(ground.problem(), ground.tile(), planted), ground.inputs());
  }
};

void name_row(KillRow& row, const std::vector<Evidence>& evidence) {
  const std::vector<Diagnosis> found = diagnose(evidence, all_faults());
  if (found.empty()) return;
  row.diagnosed_as = found.front().name();
  for (const FaultSet& other : found.front().equivalent) {
    row.equivalent_to.emplace_back(other.front()->name);
  }
}

KillRow judge_fault(const Fault& planted, std::vector<std::unique_ptr<Target>>& targets) {
  KillRow row;
  row.planted = &planted;
  std::vector<Attention> got;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    got.push_back(targets[i]->run({&planted}));
    if (!targets[i]->ground.passes(got.back())) row.killed_by.push_back(i);
  }
  if (row.survives()) return row;
  std::vector<Evidence> evidence;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    evidence.push_back({&targets[i]->hypotheses, {&got[i], nullptr}});
  }
  name_row(row, evidence);
  return row;
}

// What a kernel meets on one problem.
struct Ground {
  Inputs inputs;
  Oracle expected;
  Hypotheses hypotheses;

  Ground(const Problem& p, const Kernel& kernel)
      : inputs(make_inputs(p)),
        expected(oracle(p, inputs)),
        hypotheses(p, kernel.tile(p), kernel.sums, inputs, expected) {
    hypotheses.prepare();
  }
};

}  // namespace

KillMatrix kill_matrix(const std::vector<Case>& cases, TileShape tile,
                       const std::function<void(const Fault&)>& advance) {
  std::vector<std::unique_ptr<Target>> targets(cases.size());
  parallel_for(static_cast<Index>(cases.size()), [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    targets[at] = std::make_unique<Target>(cases[at].problem, tile);
  });
  KillMatrix matrix;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!targets[i]->ground.passes(targets[i]->run({}))) matrix.false_accusations.push_back(i);
  }
  matrix.faults.resize(faults().size());
  std::mutex guard;
  parallel_for(static_cast<Index>(faults().size()), [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    matrix.faults[at] = judge_fault(faults()[at], targets);
    if (!advance) return;
    const std::lock_guard lock(guard);
    advance(faults()[at]);
  });
  return matrix;
}

KillRow kill_row(const Kernel& kernel, const Fault& planted, const std::vector<Case>& cases) {
  std::vector<std::unique_ptr<Ground>> grounds(cases.size());
  parallel_for(static_cast<Index>(cases.size()), [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    if (kernel.unsupported(cases[at].problem)) return;
    grounds[at] = std::make_unique<Ground>(cases[at].problem, kernel);
  });
  KillRow row;
  row.planted = &planted;
  std::vector<Attention> got(cases.size());
  std::vector<Evidence> evidence;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (!grounds[i]) {
      row.left_out.push_back(i);
      continue;
    }
    const Problem& p = cases[i].problem;
    got[i] = run_poisoned(kernel, p, grounds[i]->inputs);
    const Tolerance tolerance(p, kernel.sums);
    const bool right = compare_output(grounds[i]->expected, tolerance, got[i].out).pass() &&
                       compare_lse(grounds[i]->expected, tolerance, got[i].lse).pass();
    if (!right) row.killed_by.push_back(i);
    evidence.push_back({&grounds[i]->hypotheses, {&got[i], nullptr}});
  }
  if (!row.survives()) name_row(row, evidence);
  return row;
}

}  // namespace swa
