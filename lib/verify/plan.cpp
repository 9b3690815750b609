#include "verify/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace swa {

const Sequence* sequence_of_row(const std::vector<Sequence>& all, Index batch, Index row) {
  // The last that begins at the row or before it: those without queries begin where the next does.
  const auto next = std::upper_bound(
      all.begin(), all.end(), std::pair(batch, row),
      [](const auto& at, const Sequence& s) { return at < std::pair(s.batch, s.q_row); });
  if (next == all.begin()) return nullptr;
  const Sequence& s = *(next - 1);
  return s.batch == batch && row < s.q_row + s.mask.n_q ? &s : nullptr;
}

std::string describe_row(const Problem& p, Index batch, Index head, Index row) {
  std::string words = fmt::format("row {}", row);
  if (p.heads_q > 1) words = fmt::format("head {}, {}", head, words);
  if (p.query_shape(1).batch > 1) words = fmt::format("batch {}, {}", batch, words);
  return words;
}

namespace {

// The sequence that a row of the output belongs to, and its row within; none for padding.
struct Place {
  Sequence sequence;
  Index row = 0;
};

std::optional<Place> place_of(const Problem& p, Index batch, Index row) {
  const std::vector<Sequence> all = sequences(p);
  if (const Sequence* s = sequence_of_row(all, batch, row)) return Place{*s, row - s->q_row};
  return std::nullopt;
}

KeyRuns keys_of(const Plan& plan, const Sequence& s, Index head, Index row) {
  Mask mask = s.mask;
  for (const auto& edit : plan.mask_edits) edit(mask);
  const RowKeys right = keys_of_row(mask, row);
  const Index sinks = smaller(mask.sinks, right.band.end);
  PlannedRow planned{mask, plan.tile, plan.problem.group(), head, row, right.band, sinks};
  for (const auto& edit : plan.row_edits) edit(planned);

  KeyRuns runs;
  const auto add = [&](Index begin, Index end) {
    begin = clamp(begin, 0, mask.n_k);
    end = clamp(end, begin, mask.n_k);
    if (!planned.only && !planned.twice) return append(runs, {begin, end, 1});
    for (Index key = begin; key < end; ++key) {
      if (planned.only && !planned.only(key)) continue;
      append(runs, {key, key + 1, planned.twice && planned.twice(key) ? 2 : 1});
    }
  };
  add(0, smaller(planned.sinks, planned.band.begin));
  add(planned.band.begin, planned.band.end);
  return runs;
}

bool changes_keys(const Plan& plan) {
  return !plan.mask_edits.empty() || !plan.row_edits.empty();
}

template <class Real>
Attention forward(const Plan& plan, const Inputs& inputs) {
  TiledOptions options;
  options.tile = plan.tile;
  options.guard = plan.guard;
  options.steps = plan.steps;
  if (changes_keys(plan)) {
    options.steps.keys = [&plan](const Sequence& s, Index head, Index row) {
      return keys_of(plan, s, head, row);
    };
  }
  Attention outputs = tiled_forward<Real>(plan.problem, inputs, options);
  for (const auto& edit : plan.output_edits) edit(plan.problem, outputs);
  return outputs;
}

}  // namespace

Inputs inputs_of(const Plan& plan, const Inputs& inputs) {
  Inputs result = inputs;
  for (const auto& edit : plan.input_edits) edit(plan.problem, result);
  return result;
}

Attention run_plan(const Plan& plan, const Inputs& inputs) {
  const Inputs read = inputs_of(plan, inputs);
  Attention outputs =
      plan.problem.dtype == Dtype::fp64 ? forward<double>(plan, read) : forward<float>(plan, read);
  round_to(stored_dtype(plan.problem.dtype), outputs.out.data);
  return outputs;
}

Attention run_plan_exactly(const Plan& plan, const Inputs& inputs) {
  return forward<double>(plan, inputs_of(plan, inputs));
}

Tensor<double> run_plan_on_abs_values(const Plan& plan, const Inputs& inputs) {
  Inputs read = inputs_of(plan, inputs);
  for (double& v : read.v.data) v = std::abs(v);
  return forward<double>(plan, read).out;
}

KeyRuns planned_keys(const Plan& plan, Index batch, Index head, Index row) {
  const std::optional<Place> place = place_of(plan.problem, batch, row);
  if (!place) return {};
  KeyRuns runs = keys_of(plan, place->sequence, head, place->row);
  const Index first = source_of(plan.steps, plan.problem, place->sequence, head).first_row;
  for (KeyRun& run : runs) {
    run.begin += first;
    run.end += first;
  }
  return runs;
}

KvSource planned_source(const Plan& plan, Index batch, Index head, Index row) {
  const std::optional<Place> place = place_of(plan.problem, batch, row);
  if (!place) return {batch, head / plan.problem.group(), 0};
  return source_of(plan.steps, plan.problem, place->sequence, head);
}

}  // namespace swa
