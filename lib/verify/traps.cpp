#include "verify/traps.hpp"

#include <algorithm>
#include <cmath>

#include "mask/conventions.hpp"
#include "verify/comparison.hpp"
#include "verify/tolerance.hpp"

namespace swa {
namespace {

// Of all rows of `a` against those of `b` that begin at `shift`; one head.
double rows_difference(const Tensor<double>& a, const Tensor<double>& b, Index shift = 0) {
  return largest_difference(a.row(0, 0, 0), b.row(0, 0, shift), a.shape.size());
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
  const Tolerance tolerance(problem, {options.tile.BN, options.tile.BN});
  NanTrial trial;
  trial.same_rows = trial.others_within_bound = true;
  for (Index row = 0; row < problem.n_q; ++row) {
    const RowComparison found = compare_row(oracle, tolerance, row, result.out.row(0, 0, row));
    const bool lost = std::isnan(found.error);
    const bool foretold = predicted[static_cast<std::size_t>(row)];
    trial.nan_rows += lost;
    trial.predicted_nan_rows += foretold;
    trial.same_rows = trial.same_rows && lost == foretold;
    if (lost) {
      if (!trial.first_nan_row) trial.first_nan_row = row;
      continue;
    }
    trial.max_err_other_rows = std::max(trial.max_err_other_rows, found.error);
    trial.largest_bound = std::max(trial.largest_bound, found.bound);
    trial.others_within_bound = trial.others_within_bound && found.right;
  }
  return trial;
}

UnguardedTrial run_unguarded_trial(const Kernel& kernel, const Problem& problem,
                                   const Inputs& inputs, const Oracle& oracle) {
  const std::vector<bool> predicted =
      predicted_nan_rows(problem.mask(), kernel.tile(problem), Walk::forward);
  Attention got = run_poisoned(kernel, problem, inputs);
  UnguardedTrial trial;
  trial.same_rows = true;
  const Shape shape = got.out.shape;
  for (Index b = 0; b < shape.batch; ++b) {
    for (Index h = 0; h < shape.heads; ++h) {
      for (Index row = 0; row < shape.tokens; ++row) {
        double* const out = got.out.row(b, h, row);
        // An element that was never written is a mistake of another kind.
        const bool lost = std::any_of(out, out + shape.dim,
                                      [](double x) { return std::isnan(x) && !is_unwritten(x); });
        const bool foretold = predicted[static_cast<std::size_t>(row)];
        ++trial.rows;
        trial.nan_rows += lost;
        trial.predicted_nan_rows += foretold;
        trial.same_rows = trial.same_rows && lost == foretold;
        if (!lost) continue;
        // Left out of the comparison.
        std::copy_n(oracle.out.row(b, h, row), shape.dim, out);
        *got.lse.row(b, h, row) = *oracle.lse.row(b, h, row);
      }
    }
  }
  const Tolerance tolerance(problem, kernel.sums);
  trial.others_right = compare_output(oracle, tolerance, got.out).pass() &&
                       compare_lse(oracle, tolerance, got.lse).pass();
  return trial;
}

OffByOneTrial run_off_by_one_trial(Index n, Index head_dim, Index W, std::uint64_t seed) {
  Problem problem = one_head(n, head_dim, W, seed);
  const Inputs inputs = make_inputs(problem);
  const Tensor<double> right = dense_oracle(problem, inputs).out;
  problem.window = from_flash_attention({true, W, 0});  // the bug
  const Tensor<double> wrong = dense_oracle(problem, inputs).out;
  problem.window = from_flash_attention({true, W - 1, 0});  // the cure
  const Tensor<double> cured = dense_oracle(problem, inputs).out;

  OffByOneTrial trial;
  trial.max_err = rows_difference(wrong, right);
  trial.max_err_converted = rows_difference(cured, right);
  trial.rows_predicted = larger(0, n - W);
  for (Index row = 0; row < n; ++row) {
    // The oracle computes equal rows equally, so any difference is the mask's.
    trial.rows_affected +=
        largest_difference(wrong.row(0, 0, row), right.row(0, 0, row), head_dim) != 0;
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
  trial.max_err_bottom_right = rows_difference(dense_oracle(part, last).out, reference, n - chunk);
  part.anchor = Anchor::top_left;
  trial.max_err_top_left = rows_difference(dense_oracle(part, last).out, reference, n - chunk);
  const auto keys_seen = [&](Anchor anchor) {
    return keys_of_row(Mask::make(whole.window, 0, 1, n, anchor), 0).size();
  };
  trial.keys_seen_top_left = keys_seen(Anchor::top_left);
  trial.keys_seen_bottom_right = keys_seen(Anchor::bottom_right);
  return trial;
}

}  // namespace swa
