#include "verify/fault_demo.hpp"

#include <algorithm>
#include <tuple>

#include "parallel.hpp"
#include "verify/circumstances.hpp"

namespace swa {
namespace {

// How many of the usual circumstances the problem lacks.
Index unusual(const Problem& problem) {
  const std::vector<Circumstance> all = circumstances();
  return std::count_if(all.begin(), all.end(),
                       [&](const Circumstance& c) { return !c.holds(problem); });
}

// Of the cases that show the fault clearly, the one with the fewest further peculiarities; of
// several, that with the largest error.
std::optional<std::size_t> plainest(const std::vector<Case>& cases,
                                    const std::vector<FaultTrial>& trials) {
  // In bounds. Less is not always the fault that was meant: q.k in fp16 is a little wrong long
  // before it overflows.
  constexpr double kClear = 100;
  std::optional<std::size_t> best;
  const auto rank = [&](std::size_t i) {
    return std::tuple(trials[i].error < kClear, unusual(cases[i].problem), -trials[i].error);
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (trials[i].shows() && (!best || rank(i) < rank(*best))) best = i;
  }
  return best;
}

bool shows_on(const Fault& fault, const Problem& problem, TileShape tile) {
  const TrialGround ground(problem, tile);
  const Plan plan = plan_of(problem, tile, fault);
  return ground.judge(plan, run_plan(plan, ground.inputs())).shows();
}

}  // namespace

bool FaultDemo::exposed_as_predicted() const {
  return exposing && exposing->trial.unforeseen == 0 && diagnosed_as == planted->name;
}

bool FaultDemo::hidden_as_predicted() const {
  return !hiding || !reasons.empty();
}

struct FaultDemos::Suite {
  const std::vector<Case>& cases;
  std::vector<std::unique_ptr<TrialGround>> grounds;

  Suite(const std::vector<Case>& list, TileShape tile) : cases(list), grounds(list.size()) {
    parallel_for(static_cast<Index>(list.size()), [&](Index i) {
      const auto at = static_cast<std::size_t>(i);
      grounds[at] = std::make_unique<TrialGround>(list[at].problem, tile);
    });
  }

  // What the kernel with the fault computes on each case, and how wrong that is.
  std::vector<Attention> run(const Fault& fault, std::vector<FaultTrial>& trials) const {
    std::vector<Attention> got(cases.size());
    trials.resize(cases.size());
    parallel_for(static_cast<Index>(cases.size()), [&](Index i) {
      const auto at = static_cast<std::size_t>(i);
      const TrialGround& ground = *grounds[at];
      const Plan plan = plan_of(ground.problem(), ground.tile(), fault);
      got[at] = run_plan(plan, ground.inputs());
      trials[at] = ground.judge(plan, got[at]);
    });
    return got;
  }
};

FaultDemos::FaultDemos(const std::vector<Case>& telling, const std::vector<Case>& usual,
                       TileShape tile)
    : tile_(tile),
      telling_(std::make_unique<Suite>(telling, tile)),
      usual_(std::make_unique<Suite>(usual, tile)) {
  for (const auto& ground : telling_->grounds) {
    hypotheses_.push_back(std::make_unique<Hypotheses>(ground->problem(), tile, ground->sums(),
                                                       ground->inputs(), ground->oracle()));
  }
}

FaultDemos::~FaultDemos() = default;

FaultDemo FaultDemos::show(const Fault& fault) {
  FaultDemo demo;
  demo.planted = &fault;
  std::vector<FaultTrial> trials;
  const std::vector<Attention> got = telling_->run(fault, trials);
  if (const std::optional<std::size_t> best = plainest(telling_->cases, trials)) {
    demo.exposing = ShownCase{&telling_->cases[*best], trials[*best]};
    const TrialGround& ground = *telling_->grounds[*best];
    demo.first_wrong_row = ground.describe(plan_of(ground.problem(), tile_, fault), got[*best],
                                           *trials[*best].first_wrong);
    diagnose(demo, got, *best);
  }
  std::vector<FaultTrial> usual_trials;
  usual_->run(fault, usual_trials);
  demo.usual = static_cast<Index>(usual_trials.size());
  demo.seen_by = std::count_if(usual_trials.begin(), usual_trials.end(),
                               [](const FaultTrial& t) { return t.shows(); });
  for (std::size_t i = 0; i < usual_trials.size() && demo.reasons.empty(); ++i) {
    if (usual_trials[i].shows()) continue;
    if (demo.hiding && !demo.exposing) break;
    std::vector<std::string> reasons =
        demo.exposing ? reasons_of(fault, demo.exposing->of->problem, usual_->cases[i].problem)
                      : std::vector<std::string>{};
    if (demo.hiding && reasons.empty()) continue;
    demo.hiding = ShownCase{&usual_->cases[i], usual_trials[i]};
    demo.reasons = std::move(reasons);
  }
  return demo;
}

void FaultDemos::diagnose(FaultDemo& demo, const std::vector<Attention>& got, std::size_t first) {
  std::vector<std::size_t> order{first};
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (i != first) order.push_back(i);
  }
  FaultSet left = all_faults();
  std::vector<Evidence> evidence;
  for (const std::size_t i : order) {
    if (left.size() <= 1) break;
    const Observation seen{&got[i], nullptr};
    const auto excluded = std::erase_if(
        left, [&](const Fault* f) { return !(hypotheses_[i]->distance({f}, seen) <= 1); });
    if (excluded == 0) continue;
    evidence.push_back({hypotheses_[i].get(), seen});
    demo.told_by.push_back(telling_->cases[i].name);
  }
  const std::vector<Diagnosis> found = swa::diagnose(evidence, left);
  if (!found.empty()) demo.diagnosed_as = found.front().name();
}

std::vector<std::string> FaultDemos::reasons_of(const Fault& fault, const Problem& exposing,
                                                const Problem& hiding) const {
  std::vector<std::string> reasons;
  for (const Circumstance& c : circumstances()) {
    if (!c.holds(hiding) || c.holds(exposing)) continue;
    Problem imposed = exposing;
    c.impose(imposed);
    if (!shows_on(fault, imposed, tile_)) reasons.push_back(c.say(hiding));
  }
  return reasons;
}

}  // namespace swa
