#include "verify/traps.hpp"

#include <algorithm>
#include <cmath>

#include "mask/conventions.hpp"
#include "verify/tolerance.hpp"

namespace swa {
namespace {

// Largest |a - b| over the rows [0, a.tokens) of one head; b's rows begin at `shift`.
double max_difference(const Tensor<double>& a, const Tensor<double>& b, Index shift = 0) {
  double largest = 0;
  for (Index row = 0; row < a.shape.tokens; ++row) {
    for (Index d = 0; d < a.shape.dim; ++d) {
      const double difference = std::abs(a.row(0, 0, row)[d] - b.row(0, 0, row + shift)[d]);
      largest = std::max(largest, difference);
    }
  }
  return largest;
}

Problem one_head(Index n, Index head_dim, Index W, std::uint64_t seed) {
  Problem p;
  p.n_q = p.n_k = n;
  p.head_dim = head_dim;
  p.window = Window::causal(W);
  p.dtype = Dtype::fp64;
  p.seed = seed;
  return p;
}

}  // namespace

std::vector<bool> predicted_nan_rows(const Mask& mask, TileShape tile, Walk walk) {
  std::vector<bool> lost(static_cast<std::size_t>(mask.n_q));
  for (Index i = 0; i < query_tiles(mask, tile); ++i) {
    const std::vector<Index> order = visit_order(tiles_of_query_tile(mask, tile, i), walk);
    if (order.empty()) continue;  // nothing is computed, so nothing becomes NaN
    const KeyRange first = keys_of_tile(mask, tile, order.front());
    const KeyRange rows = rows_of_tile(mask, tile, i);
    for (Index row = rows.begin; row < rows.end; ++row) {
      const RowKeys keys = keys_of_row(mask, row);
      const auto meets = [&](KeyRange range) {
        return larger(range.begin, first.begin) < smaller(range.end, first.end);
      };
      lost[static_cast<std::size_t>(row)] = !meets(keys.band) && !meets(keys.sinks);
    }
  }
  return lost;
}

NanTrial run_nan_trial(const Problem& problem, const Inputs& inputs, const Oracle& oracle,
                       const TiledOptions& options) {
  const TiledResult result = tiled_forward<double>(problem, inputs, options);
  const std::vector<bool> predicted =
      options.guard ? std::vector<bool>(static_cast<std::size_t>(problem.n_q))
                    : predicted_nan_rows(problem.mask(), options.tile, options.walk);
  const Tolerance tolerance(problem);
  NanTrial trial;
  trial.same_rows = trial.others_within_bound = true;
  for (Index row = 0; row < problem.n_q; ++row) {
    const double* out = result.out.row(0, 0, row);
    const double* expected = oracle.out.row(0, 0, row);
    const double* spread = oracle.spread.row(0, 0, row);
    const double magnitude = oracle.magnitude.row(0, 0, row)[0];
    const bool lost = std::any_of(out, out + problem.head_dim, [](double x) { return x != x; });
    const bool foretold = predicted[static_cast<std::size_t>(row)];
    trial.nan_rows += lost;
    trial.predicted_nan_rows += foretold;
    trial.same_rows = trial.same_rows && lost == foretold;
    if (lost) {
      if (!trial.first_nan_row) trial.first_nan_row = row;
      continue;
    }
    for (Index d = 0; d < problem.head_dim; ++d) {
      const double error = std::abs(out[d] - expected[d]);
      trial.max_err_other_rows = std::max(trial.max_err_other_rows, error);
      const double bound = tolerance.of_output(magnitude, spread[d], expected[d]);
      trial.largest_bound = std::max(trial.largest_bound, bound);
      if (!(error <= bound)) trial.others_within_bound = false;
    }
  }
  return trial;
}

OffByOneTrial run_off_by_one_trial(Index n, Index head_dim, Index W, std::uint64_t seed) {
  Problem problem = one_head(n, head_dim, W, seed);
  const Inputs inputs = make_inputs(problem);
  const Tensor<double> right = dense_oracle(problem, inputs).out;
  problem.window = from_flash_attention({W, 0});  // the bug
  const Tensor<double> wrong = dense_oracle(problem, inputs).out;
  problem.window = from_flash_attention({W - 1, 0});  // the cure
  const Tensor<double> cured = dense_oracle(problem, inputs).out;

  OffByOneTrial trial;
  trial.max_err = max_difference(wrong, right);
  trial.max_err_converted = max_difference(cured, right);
  trial.rows_predicted = larger(0, n - W);
  for (Index row = 0; row < n; ++row) {
    const double* a = wrong.row(0, 0, row);
    const double* b = right.row(0, 0, row);
    double largest = 0;
    for (Index d = 0; d < head_dim; ++d) largest = std::max(largest, std::abs(a[d] - b[d]));
    trial.rows_affected += largest > 1e-12;
  }
  return trial;
}

AlignmentTrial run_alignment_trial(Index n, Index head_dim, Index W, Index chunk,
                                   std::uint64_t seed) {
  const Problem whole = one_head(n, head_dim, W, seed);
  const Inputs inputs = make_inputs(whole);
  const Tensor<double> reference = dense_oracle(whole, inputs).out;

  Problem part = whole;
  part.n_q = chunk;
  Inputs last{Tensor<double>({1, 1, chunk, head_dim}), inputs.k, inputs.v, {}};
  std::copy_n(inputs.q.row(0, 0, n - chunk), chunk * head_dim, last.q.row(0, 0, 0));

  AlignmentTrial trial;
  trial.max_err_bottom_right = max_difference(dense_oracle(part, last).out, reference, n - chunk);
  part.anchor = Anchor::top_left;
  trial.max_err_top_left = max_difference(dense_oracle(part, last).out, reference, n - chunk);
  const auto keys_seen = [&](Anchor anchor) {
    return keys_of_row(Mask::make(whole.window, 0, 1, n, anchor), 0).size();
  };
  trial.keys_seen_top_left = keys_seen(Anchor::top_left);
  trial.keys_seen_bottom_right = keys_seen(Anchor::bottom_right);
  return trial;
}

}  // namespace swa
