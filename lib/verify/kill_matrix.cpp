#include "verify/kill_matrix.hpp"

#include <memory>
#include <mutex>

#include "reference/parallel.hpp"
#include "verify/comparison.hpp"
#include "verify/diagnosis.hpp"

namespace swa {
namespace {

// A case with everything that does not depend on the fault.
class Target {
 public:
  Target(const Problem& problem, TileShape tile)
      : problem_(problem),
        tile_(tile),
        inputs_(make_inputs(problem)),
        oracle_(swa::oracle(problem, inputs_)),
        tolerance_(problem, {tile.BN, tile.BN}),
        hypotheses_(problem, tile, {tile.BN, tile.BN}, inputs_, oracle_) {
    hypotheses_.prepare();
  }

  Attention run(const FaultSet& planted) const {
    return run_plan(plan_of(problem_, tile_, planted), inputs_);
  }
  bool passes(const Attention& got) const {
    return compare_output(oracle_, tolerance_, got.out).pass() &&
           compare_lse(oracle_, tolerance_, got.lse).pass();
  }
  Hypotheses& hypotheses() { return hypotheses_; }

 private:
  const Problem& problem_;
  TileShape tile_;
  Inputs inputs_;
  Oracle oracle_;
  Tolerance tolerance_;
  Hypotheses hypotheses_;
};

KillRow judge_fault(const Fault& planted, std::vector<std::unique_ptr<Target>>& targets) {
  KillRow row;
  row.planted = &planted;
  std::vector<Attention> got;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    got.push_back(targets[i]->run({&planted}));
    if (!targets[i]->passes(got.back())) row.killed_by.push_back(i);
  }
  if (row.survives()) return row;
  std::vector<Evidence> evidence;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    evidence.push_back({&targets[i]->hypotheses(), {&got[i], nullptr}});
  }
  const std::vector<Diagnosis> found = diagnose(evidence, all_faults());
  if (found.empty()) return row;
  row.diagnosed_as = found.front().name();
  for (const FaultSet& other : found.front().equivalent) {
    row.equivalent_to.emplace_back(other.front()->name);
  }
  return row;
}

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
    if (!targets[i]->passes(targets[i]->run({}))) matrix.false_accusations.push_back(i);
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

}  // namespace swa
