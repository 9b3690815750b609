#include "verify/fault_trial.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "verify/comparison.hpp"
#include "verify/faults.hpp"

namespace swa {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Whether the plan goes wrong in nothing but the rows of k and v that a row takes.
bool changes_keys_alone(const Plan& plan, const Problem& real) {
  const TiledSteps usual;
  return plan.guard && plan.input_edits.empty() && plan.output_edits.empty() &&
         plan.steps.hidden_score == usual.hidden_score && !plan.steps.softcap_after_mask &&
         !plan.steps.products_in_fp16 && plan.steps.sink_logit == usual.sink_logit &&
         plan.steps.empty_row == usual.empty_row &&
         plan.problem.score_scale() == real.score_scale() && plan.problem.softcap == real.softcap &&
         plan.problem.sink_logits == real.sink_logits;
}

bool same_head(const KvSource& a, const KvSource& b) {
  return a.batch == b.batch && a.head == b.head;
}

std::string number(double value) {
  return std::isnan(value) ? "NaN" : fmt::format("{:.4g}", value);
}

// "0..3 and 16..31", "0..63 and 64 twice".
std::string words(const KeyRuns& runs) {
  std::string text;
  for (const KeyRun& run : runs) {
    if (!text.empty()) text += " and ";
    text += run.end - run.begin == 1 ? fmt::format("{}", run.begin)
                                     : fmt::format("{}..{}", run.begin, run.end - 1);
    if (run.times == 2) text += " twice";
  }
  return text;
}

// Packed sequences share a tensor, whose rows are no key numbers.
std::string keys(const KeyRuns& runs, Layout layout) {
  const char* const of_k = layout == Layout::packed ? " of k" : "";
  const char* const noun = layout == Layout::packed ? "row" : "key";
  if (runs.empty()) return fmt::format("no {}{}", noun, of_k);
  const bool one = runs.size() == 1 && runs[0].end - runs[0].begin == 1;
  return fmt::format("{}{}{} {}", noun, one ? "" : "s", of_k, words(runs));
}

}  // namespace

TrialGround::TrialGround(const Problem& problem, TileShape tile)
    : problem_(problem),
      tile_(tile),
      inputs_(make_inputs(problem)),
      oracle_(swa::oracle(problem, inputs_)),
      tolerance_(problem, sums()),
      right_(run_plan(plan_of(problem, tile), inputs_)) {}

double TrialGround::error_of(const Attention& got, std::size_t row, Index element) const {
  const RowFacts& facts = oracle_.rows[row];
  const bool is_lse = element == problem_.value_dim();
  const auto at = is_lse ? row
                         : row * static_cast<std::size_t>(problem_.value_dim()) +
                               static_cast<std::size_t>(element);
  const double expected = is_lse ? oracle_.lse.data[at] : oracle_.out.data[at];
  const double seen = is_lse ? got.lse.data[at] : got.out.data[at];
  if (seen == expected) return 0;
  if (!std::isfinite(seen) || !std::isfinite(expected)) return kInfinity;
  const double bound = is_lse ? tolerance_.of_lse(facts, expected)
                              : tolerance_.of_output(facts, oracle_.abs_output.data[at], expected);
  return std::abs(seen - expected) / bound;
}

bool TrialGround::passes(const Attention& got) const {
  return compare_output(oracle_, tolerance_, got.out).pass() &&
         compare_lse(oracle_, tolerance_, got.lse).pass();
}

FaultTrial TrialGround::judge(const Plan& plan, const Attention& got) const {
  const Plan right = plan_of(problem_, tile_);
  const bool foreseeable = changes_keys_alone(plan, problem_);
  FaultTrial trial;
  trial.same_bits = same_bits(got.out, right_.out) && same_bits(got.lse, right_.lse);
  if (foreseeable) trial.other_keys = 0;
  const Shape shape = got.lse.shape;
  for (std::size_t i = 0; i < oracle_.rows.size(); ++i) {
    if (oracle_.rows[i].padding) continue;
    ++trial.rows;
    double error = 0;
    for (Index element = 0; element <= problem_.value_dim(); ++element) {
      error = std::max(error, error_of(got, i, element));
    }
    trial.error = std::max(trial.error, error);
    const bool wrong = error > 1;
    const auto at = static_cast<Index>(i);
    const Index b = at / shape.tokens / shape.heads, h = at / shape.tokens % shape.heads,
                row = at % shape.tokens;
    trial.wrong_rows += wrong;
    if (wrong && !trial.first_wrong) trial.first_wrong = {b, h, row};
    if (!foreseeable) continue;
    const bool other =
        planned_keys(plan, b, h, row) != planned_keys(right, b, h, row) ||
        !same_head(planned_source(plan, b, h, row), planned_source(right, b, h, row));
    *trial.other_keys += other;
    trial.unforeseen += wrong && !other;
  }
  return trial;
}

std::string TrialGround::describe(const Plan& plan, const Attention& got,
                                  const std::array<Index, 3>& place) const {
  const auto [b, h, row] = place;
  const std::string where = describe_row(problem_, b, h, row);
  const Plan right = plan_of(problem_, tile_);

  const KeyRuns seen = planned_keys(plan, b, h, row), expected = planned_keys(right, b, h, row);
  if (seen != expected) {
    return fmt::format("{} sees {}, should see {}", where, keys(seen, problem_.layout),
                       keys(expected, problem_.layout));
  }
  const KvSource from = planned_source(plan, b, h, row), own = planned_source(right, b, h, row);
  if (from.head != own.head) {
    return fmt::format("{} reads kv head {}, should read {}", where, from.head, own.head);
  }
  if (from.batch != own.batch) {
    return fmt::format("{} reads k and v of batch {}, should read those of {}", where, from.batch,
                       own.batch);
  }
  const auto i = static_cast<std::size_t>((b * problem_.heads_q + h) * got.lse.shape.tokens + row);
  for (Index element = 0; element < problem_.value_dim(); ++element) {
    if (error_of(got, i, element) <= 1) continue;
    const double value = got.out.row(b, h, row)[element];
    return fmt::format("{}, element {} is {}, should be {}", where, element,
                       is_unwritten(value) ? "never written" : number(value),
                       number(oracle_.out.row(b, h, row)[element]));
  }
  return fmt::format("{} has the lse {}, should have {}", where, number(got.lse.data[i]),
                     number(oracle_.lse.data[i]));
}

}  // namespace swa
