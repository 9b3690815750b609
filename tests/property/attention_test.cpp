// The references against one another, and the tiled kernel against them, on random problems.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "problem/random_problems.hpp"
#include "reference/oracle.hpp"
#include "reference/tiled.hpp"
#include "tiles/counts.hpp"
#include "verify/comparison.hpp"
#include "verify/kernel.hpp"
#include "verify/traps.hpp"

using namespace swa;

TEST_CASE("dense and band oracle agree") {
  RandomProblems problems(1, {130, 16});
  for (int i = 0; i < 400; ++i) {
    Problem p = problems.next();
    p.dtype = Dtype::fp64;
    CAPTURE(options(p));
    const Inputs inputs = make_inputs(p);
    const Oracle dense = dense_oracle(p, inputs), band = band_oracle(p, inputs);
    for (const Sequence& q : sequences(p)) {
      for (Index begin = 0; begin < q.mask.n_q; begin += 64) {
        const Index last = smaller(begin + 64, q.mask.n_q) - 1;
        const Index first_key = band_begin(q.mask, begin);
        const Index keys = band_end(q.mask, last) - first_key + smaller(p.sinks, first_key);
        CHECK(keys <= band_oracle_keys(p));
      }
    }
    CHECK(compare_output(dense, Tolerance(p), band.out).pass());
    CHECK(compare_lse(dense, Tolerance(p), band.lse).pass());
    for (std::size_t j = 0; j < dense.abs_output.data.size(); ++j) {
      const double exact = dense.abs_output.data[j], sum = band.abs_output.data[j];
      if (!(sum >= exact * (1 - 1e-12) && sum <= exact * (1 + 0x1p-12))) {
        FAIL_CHECK("sum of weight |v| of ", sum, " where ", exact, " is exact, at ", j);
        break;
      }
    }
    for (std::size_t row = 0; row < dense.rows.size(); ++row) {
      CHECK(dense.rows[row].keys == band.rows[row].keys);
      CHECK(dense.rows[row].score_bound == doctest::Approx(band.rows[row].score_bound));
      CHECK(dense.rows[row].largest_v == band.rows[row].largest_v);
      CHECK(dense.rows[row].denominator == doctest::Approx(band.rows[row].denominator));
    }
  }
}

TEST_CASE("cpu-tiled agrees with the oracle in every dtype tile and walking order") {
  RandomProblems problems(2, {130, 16});
  for (int i = 0; i < 600; ++i) {
    Problem p = problems.next();
    p.dtype = std::array{Dtype::fp64, Dtype::fp32, Dtype::bf16, Dtype::fp16}[i % 4];
    TiledOptions tiling;
    tiling.tile = {problems.pick({1, 8, 16, 64}), problems.pick({1, 8, 16, 64})};
    tiling.walk = i % 3 == 0 ? Walk::reverse : Walk::forward;
    CAPTURE(options(p));
    CAPTURE(tiling.tile.BM);
    CAPTURE(tiling.tile.BN);
    const Inputs inputs = make_inputs(p);
    const Oracle expected = dense_oracle(p, inputs);
    Attention got = p.dtype == Dtype::fp64 ? Attention(tiled_forward<double>(p, inputs, tiling))
                                           : Attention(tiled_forward<float>(p, inputs, tiling));
    round_to(p.dtype, got.out.data);
    const Tolerance tolerance(p, {tiling.tile.BN, tiling.tile.BN});
    CHECK(compare_output(expected, tolerance, got.out).pass());
    CHECK(compare_lse(expected, tolerance, got.lse).pass());
  }
}

TEST_CASE("what the tiled forward visits is what lib/tiles counts") {
  RandomProblems problems(3, {130, 16});
  for (int i = 0; i < 200; ++i) {
    const Problem p = problems.next();
    TiledOptions tiling;
    tiling.tile = {problems.pick({1, 8, 16, 64}), problems.pick({1, 8, 16, 64})};
    CAPTURE(options(p));
    const TiledResult result = tiled_forward<float>(p, make_inputs(p), tiling);
    TileCounts counts;
    for (const Sequence& s : sequences(p)) counts += count_tiles(s.mask, tiling.tile);
    CHECK(result.full == p.heads_q * counts.full);
    CHECK(result.partial == p.heads_q * counts.partial);
    CHECK(result.empty == 0);
  }
}

TEST_CASE("rows without the guard are lost exactly where key ranges say so") {
  RandomProblems problems(4, {130, 16});
  Index lost = 0, kept = 0;
  for (int i = 0; i < 400; ++i) {
    Problem p = problems.next();
    p.batch = p.heads_q = p.heads_kv = 1;
    p.lengths_q.clear();
    p.lengths_k.clear();
    p.layout = Layout::padded;
    p.sink_logits = false;
    p.dtype = Dtype::fp64;
    TiledOptions tiling;
    tiling.tile = {problems.pick({1, 8, 16, 64}), problems.pick({1, 8, 16, 64})};
    tiling.walk = i % 2 == 0 ? Walk::forward : Walk::reverse;
    tiling.guard = false;
    CAPTURE(options(p));
    const Inputs inputs = make_inputs(p);
    const NanTrial trial = run_nan_trial(p, inputs, dense_oracle(p, inputs), tiling);
    CHECK(trial.same_rows);
    CHECK(trial.others_within_bound);
    lost += trial.nan_rows;
    kept += p.n_q - trial.nan_rows;
  }
  CHECK(lost > 100);  // the test has seen both
  CHECK(kept > 100);
}

TEST_CASE("a sequence of a batch is computed as if it were alone") {
  RandomProblems problems(5, {130, 16});
  Index seen = 0;
  while (seen < 100) {
    const Problem p = problems.next();
    if (!p.has_lengths()) continue;
    ++seen;
    CAPTURE(options(p));
    const Inputs inputs = make_inputs(p);
    const Oracle whole = dense_oracle(p, inputs);
    for (const Sequence& s : sequences(p)) {
      if (s.mask.n_q == 0 || s.mask.n_k == 0) continue;
      Problem alone = p;
      alone.batch = 1;
      alone.lengths_q.clear();
      alone.lengths_k.clear();
      alone.layout = Layout::padded;
      alone.n_q = s.mask.n_q;
      alone.n_k = s.mask.n_k;
      Inputs own{Tensor<double>(alone.query_shape(p.head_dim)),
                 Tensor<double>(alone.key_shape(p.head_dim)),
                 Tensor<double>(alone.key_shape(p.value_dim())), inputs.sink_logits};
      for (Index h = 0; h < p.heads_q; ++h) {
        std::copy_n(inputs.q.row(s.batch, h, s.q_row), alone.n_q * p.head_dim, own.q.row(0, h, 0));
      }
      for (Index h = 0; h < p.heads_kv; ++h) {
        std::copy_n(inputs.k.row(s.batch, h, s.k_row), alone.n_k * p.head_dim, own.k.row(0, h, 0));
        std::copy_n(inputs.v.row(s.batch, h, s.k_row), alone.n_k * p.value_dim(),
                    own.v.row(0, h, 0));
      }
      const Oracle expected = dense_oracle(alone, own);
      for (Index h = 0; h < p.heads_q; ++h) {
        CHECK(largest_difference(whole.out.row(s.batch, h, s.q_row), expected.out.row(0, h, 0),
                                 alone.n_q * p.value_dim()) == 0);
      }
    }
  }
}

TEST_CASE("padding is not compared and not read") {
  Problem p;
  p.batch = 2;
  p.n_q = p.n_k = 8;
  p.lengths_q = {8, 3};
  p.lengths_k = {8, 5};
  const Inputs inputs = make_inputs(p);
  CHECK(std::isnan(inputs.k.row(1, 0, 5)[0]));
  CHECK(std::isfinite(inputs.k.row(1, 0, 4)[0]));
  CHECK(std::isnan(inputs.q.row(1, 0, 3)[0]));
  const Oracle oracle = dense_oracle(p, inputs);
  Attention got = poisoned_outputs(p);
  got = tiled_forward<double>(p, inputs, {});
  const Comparison found = compare_output(oracle, Tolerance(p), got.out);
  CHECK(found.pass());
  CHECK(found.elements == 11 * p.head_dim);
  CHECK(std::isnan(got.out.row(1, 0, 3)[0]));  // never written, and nobody's business
  got.out.row(1, 0, 2)[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(compare_output(oracle, Tolerance(p), got.out).pass());
}

TEST_CASE("a row does not depend on which other rows are asked for") {
  Problem whole;
  whole.n_q = whole.n_k = 97;
  whole.window = Window::causal(20);
  const Inputs inputs = make_inputs(whole);
  const Oracle all = dense_oracle(whole, inputs);
  Problem part = whole;
  part.n_q = 10;
  Inputs last = inputs;
  last.q = Tensor<double>({1, 1, 10, whole.head_dim});
  std::copy_n(inputs.q.row(0, 0, 87), 10 * whole.head_dim, last.q.data.begin());
  const Oracle some = dense_oracle(part, last);
  for (Index i = 0; i < 10 * whole.head_dim; ++i) {
    CHECK(some.out.row(0, 0, 0)[i] == all.out.row(0, 0, 87)[i]);
  }
}

TEST_CASE("a key that no row sees changes nothing whatever it holds") {
  Problem p;
  p.n_q = 40;
  p.n_k = 160;
  p.window = Window::causal(48);
  const Inputs clean = make_inputs(p);
  const KeyRange dead{0, band_begin(p.mask(), 0)};
  REQUIRE(dead.size() == 160 - 40 - 47);
  for (const double poison :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e4}) {
    Inputs inputs = clean;
    for (Index key = dead.begin; key < dead.end; ++key) {
      std::fill_n(inputs.k.row(0, 0, key), p.head_dim, poison);
      std::fill_n(inputs.v.row(0, 0, key), p.head_dim, poison);
    }
    CHECK(dense_oracle(p, inputs).out.data == dense_oracle(p, clean).out.data);
    CHECK(band_oracle(p, inputs).out.data == band_oracle(p, clean).out.data);
    // The tiled kernel loads whole tiles, so its first tile may begin before the window.
    TiledOptions one_key;
    one_key.tile = {64, 1};
    CHECK(tiled_forward<float>(p, inputs, one_key).out.data ==
          tiled_forward<float>(p, clean, one_key).out.data);
  }
}

TEST_CASE("long sums pass whatever the tile") {
  for (const Index BN : {Index{1}, Index{64}, Index{524'288}}) {
    Problem p;
    p.n_q = 1;
    p.n_k = 524'288;
    p.window = Window::band(Side::unbounded(), Side::unbounded());
    p.scale = 0.000375;  // all weights nearly equal: additions of one sign
    p.head_dim = 8;
    const Inputs inputs = make_inputs(p);
    TiledOptions tiling;
    tiling.tile = {64, BN};
    const TiledResult got = tiled_forward<float>(p, inputs, tiling);
    const Oracle expected = band_oracle(p, inputs);
    const Tolerance tolerance(p, {BN, BN});
    CAPTURE(BN);
    CHECK(compare_output(expected, tolerance, got.out).pass());
    CHECK(compare_lse(expected, tolerance, got.lse).pass());
  }
}
