#include <doctest/doctest.h>

#include "error.hpp"
#include "tiles/counts.hpp"

using namespace swa;

namespace {

Mask square(Index n, Window window, Index sinks = 0) {
  return Mask::make(window, sinks, n, n, Anchor::bottom_right);
}

}  // namespace

TEST_CASE("the chapter's tile counts at 1000 tokens in 64 x 64") {
  struct Row {
    Window window;
    Index full, partial;
  };
  for (const Row& row : {Row{Window::global(), 120, 16}, Row{Window::causal(1), 0, 16},
                         Row{Window::causal(100), 0, 45}, Row{Window::causal(128), 15, 30},
                         Row{Window::causal(300), 43, 38}}) {
    const TileCounts counts = count_tiles(square(1000, row.window), {64, 64});
    CHECK(counts.full == row.full);
    CHECK(counts.partial == row.partial);
    CHECK(counts.empty == 0);
    CHECK(counts.partial_max_per_query_tile <= 3);
  }
}

TEST_CASE("visited tiles at 128 x 128") {
  const auto visited = [](Index n, Window window) {
    return count_tiles(square(n, window), {128, 128}).visited;
  };
  CHECK(visited(8'192, Window::global()) == 2'080);
  CHECK(visited(8'192, Window::causal(1024)) == 540);
  CHECK(visited(8'192, Window::causal(4096)) == 1'584);
  CHECK(visited(32'768, Window::global()) == 32'896);
  CHECK(visited(32'768, Window::causal(1024)) == 2'268);
  CHECK(visited(32'768, Window::causal(4096)) == 7'920);
  CHECK(visited(131'072, Window::global()) == 524'800);
  CHECK(visited(131'072, Window::causal(1024)) == 9'180);
  CHECK(visited(131'072, Window::causal(4096)) == 33'264);
  CHECK(524'800 / 33'264.0 == doctest::Approx(15.8).epsilon(0.003));
}

TEST_CASE("FlexAttention's block counts and sparsity") {
  struct Row {
    Index n;
    Window window;
    Index sinks, full, partial;
    double sparsity;
  };
  const Window none = Window::global(), w = Window::causal(1024);
  for (const Row& row : {Row{4096, none, 0, 496, 32, 48.44}, Row{4096, w, 0, 196, 56, 75.39},
                         Row{4096, w, 4, 196, 79, 73.14}, Row{8192, none, 0, 2016, 64, 49.22},
                         Row{8192, w, 0, 420, 120, 86.82}, Row{8192, w, 4, 420, 175, 85.47},
                         Row{16384, none, 0, 8128, 128, 49.61}, Row{16384, w, 0, 868, 248, 93.19},
                         Row{16384, w, 4, 868, 367, 92.46}}) {
    const Mask mask = square(row.n, row.window, row.sinks);
    const TileCounts counts = count_tiles(mask, {128, 128});
    CHECK(counts.full == row.full);
    CHECK(counts.partial == row.partial);
    CHECK(sparsity_percent(Count{row.n} * row.n, {128, 128}, counts.visited) ==
          doctest::Approx(row.sparsity).epsilon(0.0001));
  }
}

TEST_CASE("exercise 1: key tiles of 32 under query tiles of 64") {
  const Mask mask = square(1000, Window::causal(100));
  const TileCounts counts = count_tiles(mask, {64, 32});
  CHECK(counts.partial == 75);
  CHECK(counts.full == 15);
  CHECK(counts.partial_max_per_query_tile == 5);
  // An interior query tile, one that the ends of the sequence do not cut.
  const TileWalk walk = tiles_of_query_tile(mask, {64, 32}, 7);
  Index partial = 0;
  for (Index t = walk.band.begin; t < walk.band.end; ++t) {
    partial += classify(mask, {64, 32}, 7, t) == TileClass::partial;
  }
  CHECK(partial == 5);
}

TEST_CASE("the drawing of section 2") {
  const TileCounts counts = count_tiles(square(192, Window::causal(40)), {16, 16});
  CHECK(counts.full == 11);
  CHECK(counts.partial == 31);
  CHECK(counts.skipped == 102);
}

TEST_CASE("visible pairs at sizes past 2^32") {
  const Index n = (Index{1} << 32) + 1;
  CHECK(visible_pairs(square(n, Window::causal(100))) == 100 * n - 100 * 99 / 2);
  CHECK(visible_pairs(Mask::make(Window::global(), 0, 1, n, Anchor::bottom_right)) == n);
  CHECK(visible_pairs(square(Index{1} << 31, Window::global())) ==
        (Index{1} << 31) * ((Index{1} << 31) + 1) / 2);
  CHECK(visible_pairs(square(n, Window::global())) == Count{n} * (n + 1) / 2);
  const Index huge = Index{1} << 40;  // 2^79 + 2^39 pairs
  CHECK(visible_pairs(square(huge, Window::global())) == Count{huge} * (huge + 1) / 2);
  // Chunks: each of C rows sees 1 .. C keys.
  CHECK(visible_pairs(square(huge, Window::chunked(8192))) == Count{huge} * 8193 / 2);
}

TEST_CASE("tile counts at sizes past 2^32") {
  const Index n = (Index{1} << 32) + 1;
  const TileCounts counts = count_tiles(square(n, Window::causal(4096)), {4096, 4096});
  CHECK(counts.visited == 2 * ceil_div(n, 4096) - 1);
  CHECK(count_tiles(square(n, Window::causal(4096)), {1, 128}).visited > 32 * Count{n});
  // 2^40 rows in tiles of 64: 2^34 query tiles, each with the diagonal and all before it.
  const Count tiles = Count{1} << 34;
  const TileCounts all = count_tiles(square(Index{1} << 40, Window::global()), {64, 64});
  CHECK(all.partial == tiles);
  CHECK(all.full == tiles * (tiles - 1) / 2);
  CHECK(all.skipped == tiles * (tiles - 1) / 2);
}

TEST_CASE("work: useful issued least and walked") {
  // 4 x 4, W = 2, tiles of 2: 7 visible pairs in 3 tiles of 4; d 8, d_v 8, 2 bytes.
  const Mask mask = square(4, Window::causal(2));
  const TileCounts counts = count_tiles(mask, {2, 2});
  REQUIRE(counts.visited == 3);
  CHECK(visible_pairs(mask) == 7);
  CHECK(useful_fraction(7, {2, 2}, 3) == doctest::Approx(7.0 / 12));
  const Work work = work_of(mask, {2, 2}, counts.visited, 8, 8, 2);
  CHECK(work.useful_flops == 2 * 16 * 7);
  CHECK(work.issued_flops == 2 * 16 * 12);
  CHECK(work.least_bytes == 4 * 16 * 2 + 4 * 16 * 2);
  CHECK(work.walked_bytes == 4 * 16 * 2 + 6 * 16 * 2);
}

TEST_CASE("each rule has the tile of its kernel") {
  const Mask window = square(8192, Window::causal(1024)), causal = square(8192, Window::global());
  const Mask full = square(8192, Window::band(Side::unbounded(), Side::unbounded()));
  // A window that hides nothing is none to FlashAttention.
  const Mask wide = square(8192, Window::causal(9000));
  struct Row {
    Rule rule;
    const Mask& mask;
    Index head_dim, BM, BN;
  };
  for (const Row& row :
       {Row{Rule::exact, window, 64, 128, 128}, Row{Rule::flex, causal, 256, 128, 128},
        Row{Rule::fa2, window, 64, 128, 128}, Row{Rule::fa2, window, 128, 128, 64},
        Row{Rule::fa2, causal, 256, 64, 64}, Row{Rule::fa3, window, 64, 192, 128},
        Row{Rule::fa3, full, 64, 192, 192}, Row{Rule::fa3, causal, 128, 128, 128},
        Row{Rule::fa3, full, 128, 128, 176}, Row{Rule::fa3, window, 192, 128, 96},
        Row{Rule::fa3, wide, 192, 128, 112}, Row{Rule::fa3, window, 256, 128, 64},
        Row{Rule::fa3, causal, 256, 128, 80}, Row{Rule::flashinfer, window, 64, 192, 128},
        Row{Rule::flashinfer, full, 128, 128, 192}, Row{Rule::flashinfer, window, 256, 128, 64}}) {
    const TileShape tile = usual_tile(row.rule, row.mask, row.head_dim);
    CAPTURE(name(row.rule));
    CAPTURE(row.head_dim);
    CHECK(tile.BM == row.BM);
    CHECK(tile.BN == row.BN);
  }
  CHECK_THROWS_AS(usual_tile(Rule::fa3, window, 512), UsageError);
  CHECK_THROWS_AS(usual_tile(Rule::flashinfer, window, 80), UsageError);
}

TEST_CASE("a rule says nothing about masks that its kernel does not compute") {
  const auto described = [](const Mask& mask, Rule rule) {
    return !not_described(mask, {128, 128}, rule).has_value();
  };
  const auto mask = [](Window window, Index n_q, Index n_k) {
    return Mask::make(window, 0, n_q, n_k, Anchor::bottom_right);
  };
  // FlashAttention 2 takes an open right side for n_k keys: too little for the first of many rows.
  const Window open = Window::band(Side::of(5), Side::unbounded());
  CHECK(described(mask(open, 100, 100), Rule::fa2));
  CHECK_FALSE(described(mask(open, 300, 100), Rule::fa2));
  CHECK(described(mask(open, 300, 100), Rule::fa3));
  // A right side of n_k or more becomes open.
  CHECK_FALSE(described(mask(Window::band(Side::unbounded(), Side::of(150)), 300, 100), Rule::fa2));
  CHECK(described(mask(Window::band(Side::unbounded(), Side::of(299)), 300, 100), Rule::fa2));
  CHECK(described(mask(Window::causal(5), 300, 100), Rule::fa2));
  for (const Rule rule : {Rule::fa2, Rule::fa3, Rule::flashinfer}) {
    CHECK_FALSE(described(square(100, Window::causal(5), 2), rule));
    CHECK_FALSE(described(square(100, Window::chunked(5)), rule));
    CHECK_FALSE(described(Mask::make(Window::causal(5), 0, 9, 99, Anchor::top_left), rule));
  }
  CHECK_FALSE(described(mask(Window::band(Side::of(3), Side::of(3)), 9, 9), Rule::flashinfer));
  CHECK_FALSE(not_described(square(9, Window::causal(5)), {96, 64}, Rule::fa2) == std::nullopt);
}
