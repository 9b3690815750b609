// Faults of scores and of the softmax's denominator.
#include <cmath>
#include <numbers>

#include "verify/fault_tables.hpp"

namespace swa {
namespace {

// Every score times a factor, softcap included; sink logits as well where `sinks`.
void multiply_scores(Plan& plan, double factor, bool sinks) {
  Problem& p = plan.problem;
  p.scale = p.score_scale() * factor;
  p.softcap *= factor;
  if (!sinks) return;
  plan.input_edits.emplace_back([factor](const Problem&, Inputs& in) {
    for (double& logit : in.sink_logits) logit *= factor;
  });
}

template <class Edit>
void edit_sink_logits(Plan& plan, Edit edit) {
  plan.input_edits.emplace_back([edit](const Problem& p, Inputs& in) {
    for (double& logit : in.sink_logits) logit = edit(p, logit);
  });
}

}  // namespace

std::vector<Fault> score_faults() {
  return {
      {"scale-missing", "scores", "scores are not scaled", "the factor of q.k is left out",
       "multiply q.k with the scale, 1 / sqrt(head_dim) unless given",
       [](Plan& plan) { plan.problem.scale = 1; }},
      {"scale-twice", "scores", "scores are scaled twice",
       "q is scaled before the call and the scores again in it", "scale once",
       [](Plan& plan) {
         plan.problem.scale = plan.problem.score_scale() * plan.problem.score_scale();
       }},
      {"log2e-missing", "scores", "weights are powers of 2 instead of e",
       "exp2 is used and the factor log2(e) is left out", "fold log2(e) into the scale",
       [](Plan& plan) { multiply_scores(plan, std::numbers::ln2, true); }},
      {"log2e-twice", "scores", "scores are multiplied with log2(e) once too often",
       "log2(e) is folded into the scale and applied again", "fold log2(e) into the scale once",
       [](Plan& plan) { multiply_scores(plan, std::numbers::log2e, false); }},
      {"softcap-missing", "scores", "there is no softcap", "the cap does not reach the kernel",
       "apply c tanh(score / c) before the mask", [](Plan& plan) { plan.problem.softcap = 0; }},
      {"softcap-after-mask", "scores", "hidden keys get the score -c instead of -inf",
       "the cap is applied after the mask, and tanh(-inf) = -1", "apply the cap before the mask",
       [](Plan& plan) { plan.steps.softcap_after_mask = true; }},
      {"softcap-before-scale", "scores", "the cap is applied to q.k before it is scaled",
       "scale and cap are in the wrong order", "scale first, then cap",
       [](Plan& plan) { plan.problem.softcap *= std::abs(plan.problem.score_scale()); }},
      {"fp16-overflow", "scores", "q.k overflows in fp16",
       "q.k is held in fp16 before it is scaled; its limit is 65504",
       "hold q.k in fp32, or scale q first",
       [](Plan& plan) { plan.steps.products_in_fp16 = plan.problem.dtype == Dtype::fp16; }},
  };
}

std::vector<Fault> sink_faults() {
  using SinkLogit = TiledSteps::SinkLogit;
  return {
      {"sink-logit-missing", "sink logits", "sink logits are left out",
       "the logits do not reach the kernel", "add exp(logit) to each row's denominator",
       [](Plan& plan) {
         plan.problem.sink_logits = false;
         plan.input_edits.emplace_back([](const Problem&, Inputs& in) { in.sink_logits.clear(); });
       }},
      {"sink-logit-twice", "sink logits", "sink logits count twice",
       "each split of a row adds the logit", "add it once, where the splits are merged",
       [](Plan& plan) {
         edit_sink_logits(plan, [](const Problem&, double s) { return s + std::numbers::ln2; });
       }},
      {"sink-logit-scaled", "sink logits", "sink logits are multiplied with the scale",
       "the logit is taken for a product q.k", "leave the logit unscaled",
       [](Plan& plan) {
         edit_sink_logits(plan, [](const Problem& p, double s) { return s * p.score_scale(); });
       }},
      {"sink-logit-with-value", "sink logits", "the sink logit adds the value of key 0",
       "the logit is a column of the scores, and the column has a value",
       "let it join the denominator only",
       [](Plan& plan) { plan.steps.sink_logit = SinkLogit::with_first_value; }},
      {"sink-logit-on-key-0", "sink logits", "the sink logit is added to the score of key 0",
       "the logit is taken for a bias of the first key", "let it join the denominator only",
       [](Plan& plan) { plan.steps.sink_logit = SinkLogit::on_first_key; }},
      {"sink-tokens-missing", "sink tokens", "sink tokens are hidden like other old keys",
       "the sinks do not reach the kernel", "keep the first keys visible to all later rows",
       [](Plan& plan) { plan.mask_edits.emplace_back([](Mask& m) { m.sinks = 0; }); }},
      {"sink-tokens-not-causal", "sink tokens", "rows see sink tokens that come after them",
       "the sinks are exempt from the causal bound too", "apply the right bound to sinks as well",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           // The band ends before the sinks do: all of them are seen.
           if (r.band.end < r.mask.sinks) r.band = {0, r.mask.sinks};
         });
       }},
      {"sink-tokens-inside-window", "sink tokens", "sink tokens use up places of the window",
       "W counts the sinks too", "sinks come on top of W = {W} keys",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           if (r.sinks == 0 || r.band.begin == 0) return;
           r.band.begin = smaller(r.band.begin + r.sinks, r.band.end);
         });
       }},
      {"sink-tokens-twice", "sink tokens", "sink tokens inside the window count twice",
       "the loop over the sinks does not end where the window begins",
       "end the sinks at the first key of the row's window",
       [](Plan& plan) {
         plan.row_edits.emplace_back([](PlannedRow& r) {
           if (r.band.begin >= r.sinks) return;
           r.twice = [sinks = r.sinks, begin = r.band.begin](Index key) {
             return key < sinks && key >= begin;
           };
         });
       }},
  };
}

}  // namespace swa
