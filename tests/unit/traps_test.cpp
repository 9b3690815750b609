#include "verify/traps.hpp"

#include <doctest/doctest.h>

#include "reference/rope.hpp"
#include "verify/faults.hpp"

#include <cmath>
#include <tuple>
#include <vector>

using namespace swa;

namespace {

NanTrial nan_trial(Window window, TiledOptions options, Index n_q = 1000, Index n_k = 1000) {
  Problem p;
  p.n_q = n_q;
  p.n_k = n_k;
  p.window = window;
  p.dtype = Dtype::fp64;
  p.seed = 1;
  const Inputs inputs = make_inputs(p);
  return run_nan_trial(p, inputs, dense_oracle(p, inputs), options);
}

TiledOptions unguarded(TileShape tile, Walk walk) {
  return {tile, walk, false};
}

}  // namespace

TEST_CASE("the chapter's NaN rows found and predicted") {
  struct Row {
    Window window;
    Index rows;
    std::optional<Index> first;
  };
  for (const Row& row : {Row{Window::global(), 0, std::nullopt}, Row{Window::causal(100), 382, 163},
                         Row{Window::causal(128), 13, 191}, Row{Window::causal(300), 210, 363}}) {
    const NanTrial trial = nan_trial(row.window, unguarded({64, 64}, Walk::forward));
    CHECK(trial.nan_rows == row.rows);
    CHECK(trial.predicted_nan_rows == row.rows);
    CHECK(trial.first_nan_row == row.first);
    CHECK(trial.same_rows);
    CHECK(trial.others_within_bound);
    CHECK(trial.max_err_other_rows < 1e-14);
    CHECK(nan_trial(row.window, {}).nan_rows == 0);  // the guard
  }
}

TEST_CASE("a kernel without the guard loses the rows that its tile predicts, in all heads") {
  Problem p;
  p.heads_q = 2;
  p.dtype = Dtype::bf16;
  const auto trial = [&](const Kernel& kernel, Index n_q, Index n_k, Index W) {
    p.n_q = n_q;
    p.n_k = n_k;
    p.window = Window::causal(W);
    const Inputs inputs = make_inputs(p);
    return run_unguarded_trial(kernel, p, inputs, dense_oracle(p, inputs));
  };
  const auto unguarded = [](TileShape tile) {
    return planted_kernel({&fault("nan-after-masked-tile")}, tile);
  };
  // Windows of the chapter, the last two without a lost row.
  const Kernel kernel = unguarded({32, 64});
  for (const auto& [n_q, n_k, W, lost] :
       {std::tuple(500, 500, 100, true), std::tuple(500, 500, 128, true),
        std::tuple(96, 600, 128, true), std::tuple(500, 500, 10000, false),
        std::tuple(1, 600, 128, false)}) {
    const UnguardedTrial found = trial(kernel, n_q, n_k, W);
    CAPTURE(n_q);
    CAPTURE(W);
    CHECK(found.rows == 2 * n_q);
    CHECK((found.nan_rows > 0) == lost);
    CHECK(found.nan_rows == found.predicted_nan_rows);
    CHECK(found.nan_rows % 2 == 0);
    CHECK(found.same_rows);
    CHECK(found.others_right);
  }
  // Row 191 of each 64 where W = 128: its window begins where its tile ends.
  CHECK(trial(kernel, 500, 500, 128).nan_rows == 2 * 5);
  // The right kernel loses none, one of another tile loses others, and a wrong one is wrong.
  const UnguardedTrial right = trial(cpu_kernels({32, 64}).front(), 500, 500, 100);
  CHECK(right.nan_rows == 0);
  CHECK_FALSE(right.same_rows);
  CHECK(right.others_right);
  Kernel other = unguarded({128, 64});
  other.tile = kernel.tile;
  CHECK_FALSE(trial(other, 500, 500, 100).same_rows);
  const Kernel wide =
      planted_kernel({&fault("nan-after-masked-tile"), &fault("window-one-too-wide")}, {32, 64});
  CHECK_FALSE(trial(wide, 500, 500, 128).others_right);
  // Rows that were never written are not taken for lost ones.
  Kernel idle = kernel;
  idle.run = [](const Problem&, const Inputs&, Attention&) {};
  CHECK(trial(idle, 500, 500, 100).nan_rows == 0);
  CHECK_FALSE(trial(idle, 500, 500, 100).others_right);
}

TEST_CASE("the reverse walk is a cure only where the diagonal tile holds every row's own key") {
  const Window window = Window::causal(100);
  CHECK(nan_trial(window, unguarded({64, 64}, Walk::reverse)).nan_rows == 0);
  CHECK(nan_trial(window, unguarded({64, 32}, Walk::reverse)).nan_rows > 0);
  CHECK(nan_trial(Window::causal(128), unguarded({64, 64}, Walk::reverse), 96, 600).nan_rows > 0);
}

TEST_CASE("off by one: 0.1749 and 896 rows and none where W >= n") {
  const OffByOneTrial trial = run_off_by_one_trial(1024, 64, 128, 2);
  CHECK(trial.max_err == doctest::Approx(0.1749).epsilon(0.0003));
  CHECK(trial.rows_affected == 896);
  CHECK(trial.rows_predicted == 896);
  CHECK(trial.max_err_converted == 0);
  CHECK(run_off_by_one_trial(100, 16, 100, 2).rows_affected == 0);
  CHECK(run_off_by_one_trial(101, 16, 100, 2).rows_affected == 1);
}

TEST_CASE("alignment: 2.462 top-left exactly 0 bottom-right and a decode step sees key 0") {
  const AlignmentTrial trial = run_alignment_trial(1024, 64, 128, 256, 2);
  CHECK(trial.max_err_top_left == doctest::Approx(2.462).epsilon(0.0003));
  CHECK(trial.max_err_bottom_right == 0);
  CHECK(trial.keys_seen_top_left == 1);
  CHECK(trial.keys_seen_bottom_right == 128);
  CHECK(run_alignment_trial(64, 16, 8, 64, 2).max_err_top_left == 0);  // a square hides it
}

TEST_CASE("RoPE turns pairs keeps lengths and scores depend on the distance alone") {
  const std::vector<double> q{1, -2, 0.5, 3}, k{0.3, 1, -1, 2};
  const auto score = [&](double at_q, double at_k) {
    std::vector<double> a = q, b = k;
    rotate(a, at_q);
    rotate(b, at_k);
    double sum = 0, length = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum += a[i] * b[i];
      length += a[i] * a[i];
    }
    CHECK(length == doctest::Approx(1 + 4 + 0.25 + 9));
    return sum;
  };
  CHECK(score(0, 0) == doctest::Approx(0.3 - 2 - 0.5 + 6));
  CHECK(score(17, 12) == doctest::Approx(score(105, 100)));
  // Position 1, half 1: element 0 turns with element 1 by one radian.
  std::vector<double> pair{1, 0};
  rotate(pair, 1);
  CHECK(pair[0] == doctest::Approx(std::cos(1.0)));
  CHECK(pair[1] == doctest::Approx(std::sin(1.0)));
}
