#include "verify/hypotheses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace swa {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double x : values) {
    if (std::isfinite(x)) most = std::max(most, std::abs(x));
  }
  return most;
}

// The largest norm of a row; rows that are not finite, as in padding, left out.
double largest_norm(const Tensor<double>& t) {
  double most = 0;
  for (std::size_t at = 0; at < t.data.size(); at += static_cast<std::size_t>(t.shape.dim)) {
    double squares = 0;
    for (Index d = 0; d < t.shape.dim; ++d) {
      const double x = t.data[at + static_cast<std::size_t>(d)];
      squares += x * x;
    }
    if (std::isfinite(squares)) most = std::max(most, squares);
  }
  return std::sqrt(most);
}

// Facts that hold for every row, whichever keys it sees.
RowFacts worst_facts(const Problem& p, const Inputs& inputs) {
  RowFacts worst;
  worst.keys = p.key_shape(1).tokens;
  worst.score_bound =
      std::max(std::abs(p.score_scale()) * largest_norm(inputs.q) * largest_norm(inputs.k),
               largest(inputs.sink_logits));
  worst.largest_v = largest(inputs.v.data);
  return worst;
}

// Whether the keys of a probe follow from the plan: not where hidden keys weigh something, or where
// other elements than those of v reach the output.
bool tells_keys(const Plan& plan) {
  return std::isinf(plan.steps.hidden_score) && !plan.steps.softcap_after_mask &&
         plan.steps.sink_logit != TiledSteps::SinkLogit::with_first_value &&
         plan.steps.empty_row != TiledSteps::EmptyRow::mean && plan.input_edits.empty();
}

// With each count relative to the smallest, as a probe finds them.
KeyRuns relative(const KeyRuns& planned) {
  KeyRuns runs;
  Index least = std::numeric_limits<Index>::max();
  for (const KeyRun& run : planned) least = smaller(least, run.times);
  for (const KeyRun& run : planned) append(runs, {run.begin, run.end, run.times / least});
  return runs;
}

bool tells_all(const Plan& plan, const Probe& probe) {
  return tells_keys(plan) && std::none_of(probe.rows.begin(), probe.rows.end(),
                                          [](const ProbedRow& row) { return row.is_odd(); });
}

}  // namespace

Hypotheses::Hypotheses(const Problem& problem, TileShape tile, SumRuns sums, const Inputs& inputs,
                       const Oracle& oracle)
    : problem_(problem), tile_(tile), tolerance_(problem, sums), inputs_(inputs), oracle_(oracle) {}

Hypotheses::Prediction Hypotheses::compute(const FaultSet& planted) const {
  const Plan plan = plan_of(problem_, tile_, planted);
  return {run_plan_exactly(plan, inputs_), std::nullopt,
          worst_facts(plan.problem, inputs_of(plan, inputs_))};
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
  const RowFacts& facts = predicted.facts;
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

bool Hypotheses::zeros_agree(const Prediction& predicted) const {
  Index elements = 0, agree = 0;
  const auto dim = static_cast<std::size_t>(predicted.exact.out.shape.dim);
  for (std::size_t at = 0; at < predicted.exact.out.data.size(); ++at) {
    const double expected = predicted.exact.out.data[at];
    if (oracle_.rows[at / dim].padding || expected == 0 || !std::isfinite(expected)) continue;
    const double bound =
        tolerance_.of_output(predicted.facts, predicted.abs_output->data[at], expected);
    ++elements;
    agree += !(bound < std::abs(expected));
  }
  return 2 * agree > elements;
}

bool Hypotheses::probe_agrees(const FaultSet& planted, const Probe& probe) const {
  const Plan plan = plan_of(problem_, tile_, planted);
  if (!tells_keys(plan)) return true;
  for (const ProbedRow& row : probe.rows) {
    if (row.is_odd()) continue;
    const KeyRuns planned = planned_keys(plan, row.batch, row.head, row.row);
    if (row.keys != relative(planned)) return false;
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

std::optional<double> Hypotheses::distance(const FaultSet& planted, const Observation& seen) {
  if (seen.probe != nullptr && !probe_agrees(planted, *seen.probe)) return kInfinity;
  if (seen.got == nullptr) {
    const Plan plan = plan_of(problem_, tile_, planted);
    return seen.probe != nullptr && tells_all(plan, *seen.probe) ? 0 : kInfinity;
  }
  const auto distance_to = [&](Prediction& predicted) -> std::optional<double> {
    const double found = output_distance(planted, predicted, *seen.got);
    if (found <= 1 && !planted.empty() && zeros_agree(predicted)) return std::nullopt;
    return found;
  };
  if (planted.size() <= 1) return distance_to(predict(planted));
  Prediction prediction = compute(planted);
  return distance_to(prediction);
}

double Hypotheses::distance(const FaultSet& a, const FaultSet& b) {
  if (a.size() <= 1 && b.size() <= 1) return output_distance(a, predict(a), predict(b).exact);
  Prediction prediction = compute(a);
  return output_distance(a, prediction, compute(b).exact);
}

}  // namespace swa
