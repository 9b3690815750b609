#include "kernels/launch/prefill.hpp"

#include <fmt/format.h>

#include <limits>

#include "problem/problem.hpp"
#include "tiles/counts.hpp"

namespace swa {
namespace {

// Keys and rows of a sequence are counted in 32 bits inside a tile.
constexpr Index kMostTokens = std::numeric_limits<std::int32_t>::max() - 1024;
constexpr Index kMostBlocks = std::numeric_limits<std::int32_t>::max();

// The tile of the problem's instance; without rows where there is none.
PrefillPlan tile_of(const Problem& p) {
  PrefillPlan plan;
  if (stored_dtype(p.dtype) == Dtype::fp32) {
    const Fp32Tile tile = fp32_tile(larger(p.head_dim, p.value_dim()));
    plan.BM = tile.BM;
    plan.BN = tile.BN;
    plan.threads = tile.threads();
    plan.smem_bytes = tile.smem_bytes();
    return plan;
  }
  const PrefillTile tile = prefill_tile(p.head_dim, p.value_dim());
  plan.BM = tile.BM;
  plan.BN = tile.BN;
  plan.threads = tile.threads();
  plan.smem_bytes = tile.smem_bytes();
  return plan;
}

PrefillPlan plan_with(const Problem& p, Index heads) {
  PrefillPlan plan = tile_of(p);
  plan.heads = heads;
  plan.positions = plan.BM / heads;
  plan.query_tiles = ceil_div(p.n_q, plan.positions);
  plan.blocks = p.batch * (p.heads_q / heads) * plan.query_tiles;
  return plan;
}

}  // namespace

TileCounts prefill_tiles(const Problem& p, const PrefillPlan& plan, TileLoop walk) {
  TileCounts sum;
  for (const SharedMask& s : shared_masks(p)) {
    TileCounts tiles = count_tiles(s.mask, plan.shape());
    tiles.masked = 0;
    if (walk == TileLoop::all) {
      tiles.empty = tiles.skipped;
      tiles.visited += tiles.skipped;
      tiles.skipped = 0;
      tiles.masked = tiles.visited;
    }
    sum += tiles * s.sequences;
  }
  return sum;
}

double issued_pairs(const Problem& p, const PrefillPlan& plan, TileLoop walk) {
  return static_cast<double>(prefill_tiles(p, plan, walk).visited) *
         static_cast<double>(p.heads_q / plan.heads) * plan.BM * plan.BN;
}

std::optional<std::string> prefill_unsupported(const Problem& p) {
  if (p.dtype == Dtype::fp64) return "computes bf16, fp16, fp32 and tf32, not fp64";
  const PrefillPlan tile = tile_of(p);
  if (tile.BM == 0) {
    return fmt::format(
        "has no instance for head_dim {}{}", p.head_dim,
        p.value_dim() == p.head_dim ? "" : fmt::format(" with head_dim_v {}", p.value_dim()));
  }
  if (larger(p.n_q, p.n_k) > kMostTokens) return "counts the tokens of a sequence in 32 bits";
  // Without packing there are the most blocks.
  const double most = static_cast<double>(p.batch) * static_cast<double>(p.heads_q) *
                      static_cast<double>(ceil_div(p.n_q, tile.BM / smaller(p.group(), tile.BM)));
  if (most > static_cast<double>(kMostBlocks)) return "a grid has at most 2^31 - 1 blocks";
  return std::nullopt;
}

PrefillPlan plan_prefill(const Problem& p) {
  const PrefillPlan one = plan_with(p, 1);
  if (p.group() == 1 || p.group() > one.BM) return one;
  // All heads of a group in one tile: fewer positions, so a narrower band, unless the rows that do
  // not divide cost more than it saves.
  const PrefillPlan all = plan_with(p, p.group());
  return issued_pairs(p, all, TileLoop::window) < issued_pairs(p, one, TileLoop::window) ? all
                                                                                         : one;
}

}  // namespace swa
