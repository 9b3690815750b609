// How the portable kernels are launched, decided on the host.
#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "kernels/launch/decode.hpp"
#include "kernels/launch/prefill.hpp"
#include "kernels/portable/visits.cuh"
#include "problem/problem.hpp"
#include "tiles/counts.hpp"

using namespace swa;

namespace {

Problem prefill(Index n_q, Index n_k, Window window, Index heads_q, Index heads_kv,
                Index head_dim) {
  Problem p;
  p.n_q = n_q;
  p.n_k = n_k;
  p.window = window;
  p.heads_q = heads_q;
  p.heads_kv = heads_kv;
  p.head_dim = head_dim;
  p.dtype = Dtype::bf16;
  return p;
}

// Masks of every kind for n_q queries and n_k keys.
std::vector<Problem> masks_for(Index n_q, Index n_k, Index heads_q, Index heads_kv) {
  std::vector<Problem> all;
  for (const Window window :
       {Window::global(), Window::causal(1), Window::causal(40), Window::causal(1000),
        Window::band(Side::of(30), Side::of(9)), Window::band(Side::unbounded(), Side::unbounded()),
        Window::chunked(48)}) {
    for (const Index sinks : {0, 21}) {
      for (const Anchor anchor : {Anchor::bottom_right, Anchor::top_left}) {
        Problem p = prefill(n_q, n_k, window, heads_q, heads_kv, 128);
        p.sinks = sinks;
        p.anchor = anchor;
        all.push_back(p);
      }
    }
  }
  return all;
}

// One walk of a block: its positions over the tiles that the kernel's loop visits, pair by pair.
void walk(TileCounts& sum, const Mask& mask, KeyRange positions, const portable::Visits& visits,
          Index BN) {
  Count partial = 0;
  for (int visit = 0; visit < visits.count; ++visit) {
    const Index first = visits.tile(visit) * BN, end = smaller(first + BN, mask.n_k);
    Index seen = 0;
    for (Index row = positions.begin; row < positions.end; ++row) {
      for (Index key = first; key < end; ++key) seen += sees(mask, row, key);
    }
    const Index all = positions.size() * (end - first);
    (seen == 0 ? sum.empty : seen == all ? sum.full : sum.partial) += 1;
    partial += seen > 0 && seen < all;
  }
  sum.visited += static_cast<Count>(visits.count);
  sum.skipped += static_cast<Count>(ceil_div(mask.n_k, BN) - visits.count);
  if (partial > sum.partial_max_per_query_tile) sum.partial_max_per_query_tile = partial;
}

void check_same(const TileCounts& counted, const TileCounts& walked) {
  CHECK(counted.full == walked.full);
  CHECK(counted.partial == walked.partial);
  CHECK(counted.empty == walked.empty);
  CHECK(counted.skipped == walked.skipped);
  CHECK(counted.visited == walked.visited);
  CHECK(counted.partial_max_per_query_tile == walked.partial_max_per_query_tile);
}

constexpr int kSharedOfSm86 = 99 * 1024;  // bytes of a block: the least of any GPU since sm_80

}  // namespace

TEST_CASE("a prefill block holds whole positions of its heads, and all positions have one") {
  for (const Index group : {1, 2, 3, 7, 8, 12, 64, 128, 129}) {
    for (const Index n_q : {1, 17, 128, 129, 5000}) {
      const Problem p = prefill(n_q, n_q, Window::causal(100), 2 * group, 2, 128);
      REQUIRE_FALSE(prefill_unsupported(p));
      const PrefillPlan plan = plan_prefill(p);
      CHECK(plan.heads * plan.positions <= plan.BM);
      CHECK(plan.positions >= 1);
      CHECK(p.heads_q % plan.heads == 0);
      CHECK((plan.heads == 1 || plan.heads == group));
      CHECK(plan.query_tiles * plan.positions >= n_q);
      CHECK((plan.query_tiles - 1) * plan.positions < n_q);
      CHECK(plan.blocks == plan.query_tiles * p.heads_q / plan.heads);
    }
  }
}

TEST_CASE("heads are packed where that narrows the band, and not where idle rows cost more") {
  const Problem narrow = prefill(8192, 8192, Window::causal(128), 64, 8, 64);
  CHECK(plan_prefill(narrow).heads == 8);
  // 128 rows hold 18 positions of 7 heads, 2 rows idle: still fewer pairs than 128 positions of
  // one.
  CHECK(plan_prefill(prefill(8192, 8192, Window::causal(128), 28, 4, 64)).heads == 7);
  // 128 rows hold one position of 100 heads: 28 rows idle.
  CHECK(plan_prefill(prefill(8192, 8192, Window::global(), 100, 1, 64)).heads == 1);
  CHECK(plan_prefill(prefill(8192, 8192, Window::global(), 8, 8, 64)).heads == 1);
}

TEST_CASE("what a plan issues is what its tiles hold") {
  const Problem p = prefill(1000, 1000, Window::causal(100), 4, 2, 128);
  const PrefillPlan plan = plan_prefill(p);
  const double tiles = static_cast<double>(count_tiles(p.mask(), plan.shape()).visited);
  CHECK(issued_pairs(p, plan, TileLoop::window) ==
        tiles * static_cast<double>(p.heads_q / plan.heads) * plan.BM * plan.BN);
  CHECK(issued_pairs(p, plan, TileLoop::all) > issued_pairs(p, plan, TileLoop::window));
}

TEST_CASE("the counted tiles are those that the loop of the prefill kernel visits") {
  for (const Index group : {1, 5, 8}) {
    for (const Problem& p : masks_for(150, 230, 2 * group, 2)) {
      CAPTURE(options(p));
      const PrefillPlan plan = plan_prefill(p);
      for (const TileLoop loop : {TileLoop::window, TileLoop::all}) {
        TileCounts walked;
        for (Index tile = 0; tile < plan.query_tiles; ++tile) {
          walk(walked, p.mask(), rows_of_tile(p.mask(), plan.shape(), tile),
               portable::visits_of(p.mask(), plan.shape(), tile, loop), plan.BN);
        }
        const TileCounts counted = prefill_tiles(p, plan, loop);
        check_same(counted, walked);
        CHECK(counted.masked == (loop == TileLoop::all ? walked.visited : 0));
      }
    }
  }
}

TEST_CASE("the counted tiles are those that the loop of the decode kernel visits") {
  constexpr int kRows = DecodeTile::kRows, kKeys = DecodeTile::kKeys;
  for (const auto& [n_q, group] : std::vector<std::array<Index, 2>>{
           {1, 1}, {1, 8}, {3, 5}, {3, 40}, {7, 16}, {16, 1}, {16, 12}, {13, 33}}) {
    for (const Problem& p : masks_for(n_q, 230, group, 1)) {
      CAPTURE(options(p));
      const portable::Visits visits =
          portable::visits_of(p.mask(), {n_q, kKeys}, 0, TileLoop::window);
      TileCounts walked;
      for (Index row = 0; row < n_q * group; row += kRows) {
        const Index past = smaller(row + kRows, n_q * group);
        walk(walked, p.mask(), {row / group, (past - 1) / group + 1}, visits, kKeys);
      }
      const TileCounts counted = decode_tiles(p);
      check_same(counted, walked);
      CHECK(counted.masked == walked.visited);
    }
  }
}

TEST_CASE("as many heads as a grid holds are counted at once") {
  const Problem p = prefill(1, 4096, Window::causal(64), 2'000'000'000, 1, 128);
  REQUIRE_FALSE(decode_unsupported(p));
  CHECK(decode_tiles(p).visited == Count{2'000'000'000 / 16} * 4);
}

TEST_CASE("a window that reaches all keys is planned as none") {
  const Problem none = prefill(1000, 1000, Window::global(), 8, 2, 64);
  for (const Index window : {1000, 10'000}) {
    const Problem wide = prefill(1000, 1000, Window::causal(window), 8, 2, 64);
    CHECK(plan_prefill(wide).heads == plan_prefill(none).heads);
    CHECK(issued_pairs(wide, plan_prefill(wide), TileLoop::window) ==
          issued_pairs(none, plan_prefill(none), TileLoop::window));
  }
}

TEST_CASE("every instance fits the shared memory of any GPU since sm_80") {
  for (const PrefillTile& tile : kPrefillTiles) {
    CAPTURE(tile.head_dim);
    CHECK(tile.smem_bytes() <= kSharedOfSm86);
    CHECK(tile.BM <= kLongestPrefillTile);
    CHECK(tile.BM == 16 * tile.fragments() * tile.warps);
    CHECK(prefill_tile(tile.head_dim, tile.head_dim_v).BM == tile.BM);
  }
  for (const Fp32Tile& tile : kFp32Tiles) {
    CAPTURE(tile.dim);
    CHECK(tile.smem_bytes() <= kSharedOfSm86);
    CHECK(tile.BM <= kLongestPrefillTile);
    CHECK(tile.threads() == 32 * (tile.BM / 16));
    CHECK(fp32_tile(tile.dim).dim == tile.dim);
  }
  CHECK(fp32_tile(1).dim == 64);
  CHECK(fp32_tile(129).dim == 256);
  CHECK(fp32_tile(257).BM == 0);
  for (const DecodeTile& tile : kDecodeTiles) CHECK(tile.smem_bytes() <= kSharedOfSm86);
}

TEST_CASE("what the portable kernels do not support is said") {
  const Problem p = prefill(100, 100, Window::causal(10), 1, 1, 64);
  CHECK_FALSE(prefill_unsupported(p));
  CHECK(decode_unsupported(p) == "takes at most 16 queries of a sequence");

  Problem other = p;
  other.head_dim = 72;
  CHECK(prefill_unsupported(other) == "has no instance for head_dim 72");
  other.head_dim_v = 64;
  CHECK(prefill_unsupported(other) == "has no instance for head_dim 72 with head_dim_v 64");
  for (const Dtype dtype : {Dtype::fp32, Dtype::tf32}) {
    other.dtype = dtype;
    other.head_dim = 72;
    CHECK_FALSE(prefill_unsupported(other));
    other.head_dim = 257;
    CHECK(prefill_unsupported(other) == "has no instance for head_dim 257 with head_dim_v 64");
  }
  other = p;
  other.dtype = Dtype::fp64;
  CHECK(prefill_unsupported(other) == "computes bf16, fp16, fp32 and tf32, not fp64");
  other = p;
  other.n_k = Index{1} << 31;
  CHECK(prefill_unsupported(other) == "counts the tokens of a sequence in 32 bits");
  other = p;
  other.batch = Index{1} << 31;
  CHECK(prefill_unsupported(other) == "a grid has at most 2^31 - 1 blocks");
  other = prefill(1, 1, Window::causal(10), 1, 1, 64);
  other.batch = Index{1} << 31;
  CHECK(decode_unsupported(other) == "a grid has at most 2^31 - 1 blocks");
  other.dtype = Dtype::fp32;
  CHECK(decode_unsupported(other) == "computes bf16 and fp16, not fp32");
}

TEST_CASE("a decode step is split over its window and not over the context") {
  constexpr int kMultiprocessors = 132;
  Problem p = prefill(1, 131'072, Window::causal(4096), 32, 8, 128);
  const DecodePlan alone = plan_decode(p, kMultiprocessors);
  CHECK(alone.row_tiles == 1);
  CHECK(alone.splits == 32);  // 256 stages of 16 keys and at least two for each of four warps
  CHECK(alone.blocks == 8 * alone.splits);
  p.n_k = 8192;
  CHECK(plan_decode(p, kMultiprocessors).splits == alone.splits);
  p.window = Window::causal(128);
  CHECK(plan_decode(p, kMultiprocessors).splits == 1);
  p.window = Window::causal(4096);
  p.batch = 128;  // 1024 blocks fill the device
  CHECK(plan_decode(p, kMultiprocessors).splits == 1);
  p = prefill(16, 5000, Window::causal(1000), 24, 2, 64);
  CHECK(plan_decode(p, kMultiprocessors).row_tiles == 12);  // 16 positions of 12 heads
}
