#include "verify/hypotheses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace swa {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Facts that hold for every row, whichever keys it sees.
RowFacts worst_facts(const Problem& p, const Inputs& inputs, const Oracle& oracle) {
  RowFacts worst;
  worst.keys = p.key_shape(1).tokens;
  for (const RowFacts& row : oracle.rows) {
    worst.score_bound = std::max(worst.score_bound, row.score_bound);
  }
  for (const double v : inputs.v.data) {
    if (std::isfinite(v)) worst.largest_v = std::max(worst.largest_v, std::abs(v));
  }
  return worst;
}

// Whether the keys of a probe follow from the plan: not where hidden keys weigh something, or where
// other elements than those of v reach the output.
bool tells_keys(const Plan& plan) {
  return std::isinf(plan.steps.hidden_score) && !plan.steps.softcap_after_mask &&
         plan.steps.sink_logit != TiledSteps::SinkLogit::with_first_value &&
         plan.steps.empty_row != TiledSteps::EmptyRow::mean && plan.input_edits.empty();
}

}  // namespace

Hypotheses::Hypotheses(const Problem& problem, TileShape tile, SumRuns sums, const Inputs& inputs,
                       const Oracle& oracle)
    : problem_(problem),
      tile_(tile),
      tolerance_(problem, sums),
      inputs_(inputs),
      oracle_(oracle),
      worst_facts_(worst_facts(problem, inputs, oracle)) {}

Hypotheses::Prediction Hypotheses::compute(const FaultSet& planted) const {
  const Plan plan = plan_of(problem_, tile_, planted);
  return {run_plan_exactly(plan, inputs_), std::nullopt,
          std::max(1.0, std::abs(plan.problem.score_scale() / problem_.score_scale()))};
}

void Hypotheses::add_abs_output(const FaultSet& planted, Prediction& prediction) const {
  if (prediction.abs_output) return;
  prediction.abs_output = run_plan_on_abs_values(plan_of(problem_, tile_, planted), inputs_);
}

Hypotheses::Prediction& Hypotheses::predict(const FaultSet& planted) {
  const auto known = predictions_.find(planted);
  return known != predictions_.end()
             ? known->second
             : predictions_.emplace(planted, compute(planted)).first->second;
}

void Hypotheses::prepare() {
  add_abs_output({}, predict({}));
  for (const Fault& f : faults()) add_abs_output({&f}, predict({&f}));
}

double Hypotheses::output_distance(const Prediction& predicted, const Attention& got) const {
  RowFacts facts = worst_facts_;
  facts.score_bound *= predicted.score_growth;
  double worst = 0;
  const auto look = [&](double expected, double seen, double bound) {
    if (expected == seen || (std::isnan(expected) && std::isnan(seen) &&
                             is_unwritten(expected) == is_unwritten(seen))) {
      return;
    }
    const bool comparable = std::isfinite(expected) && std::isfinite(seen);
    worst = std::max(worst, comparable ? std::abs(seen - expected) / bound : kInfinity);
  };
  const Shape& shape = got.out.shape;
  for (Index i = 0; i < shape.size() && worst < kInfinity; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (oracle_.rows[at / static_cast<std::size_t>(shape.dim)].padding) continue;
    const double expected = predicted.exact.out.data[at];
    const double abs_output =
        predicted.abs_output ? predicted.abs_output->data[at] : facts.largest_v;
    look(expected, got.out.data[at], tolerance_.of_output(facts, abs_output, expected));
  }
  for (std::size_t row = 0; row < got.lse.data.size() && worst < kInfinity; ++row) {
    if (oracle_.rows[row].padding) continue;
    const double expected = predicted.exact.lse.data[row];
    look(expected, got.lse.data[row],
         std::isfinite(expected) ? tolerance_.of_lse(facts, expected) : 0);
  }
  return worst;
}

bool Hypotheses::probe_agrees(const FaultSet& planted, const Probe& probe) const {
  const Plan plan = plan_of(problem_, tile_, planted);
  if (!tells_keys(plan)) return true;
  for (const ProbedRow& row : probe.rows) {
    if (row.nan || row.unwritten || row.from_k) continue;
    if (row.keys != planned_keys(plan, row.batch, row.head, row.row)) return false;
  }
  for (const ProbedHead& head : probe.heads) {
    for (const auto& source : head.sources) {
      const KvSource predicted = planned_source(plan, head.batch, head.head, 0);
      if (source != std::pair(predicted.batch, predicted.head)) return false;
    }
  }
  return true;
}

double Hypotheses::output_distance(const FaultSet& planted, Prediction& predicted,
                                   const Attention& got) const {
  const double rough = output_distance(predicted, got);
  if (rough > 1 || predicted.abs_output) return rough;
  add_abs_output(planted, predicted);
  return output_distance(predicted, got);
}

double Hypotheses::distance(const FaultSet& planted, const Observation& seen) {
  if (seen.probe != nullptr && !probe_agrees(planted, *seen.probe)) return kInfinity;
  if (seen.got == nullptr) return tells_keys(plan_of(problem_, tile_, planted)) ? 0 : kInfinity;
  if (planted.size() <= 1) return output_distance(planted, predict(planted), *seen.got);
  Prediction prediction = compute(planted);
  return output_distance(planted, prediction, *seen.got);
}

double Hypotheses::distance(const FaultSet& a, const FaultSet& b) {
  if (a.size() <= 1 && b.size() <= 1) return output_distance(a, predict(a), predict(b).exact);
  Prediction prediction = compute(a);
  return output_distance(a, prediction, compute(b).exact);
}

}  // namespace swa
