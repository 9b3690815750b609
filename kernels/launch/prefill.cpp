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

// Pairs that the tiles of one kv head's group compute, idle rows included.
double issued_pairs(const Problem& p, const PrefillTile& tile, Index heads) {
  const TileShape shape{tile.BM / heads, tile.BN};
  double tiles = 0;
  for (const SharedMask& s : shared_masks(p)) {
    tiles +=
        static_cast<double>(count_tiles(s.mask, shape).visited) * static_cast<double>(s.sequences);
  }
  return tiles * static_cast<double>(p.group() / heads) * tile.BM * tile.BN;
}

Index blocks(const Problem& p, Index heads, Index query_tiles) {
  return p.batch * (p.heads_q / heads) * query_tiles;
}

}  // namespace

std::optional<std::string> prefill_unsupported(const Problem& p) {
  if (p.dtype != Dtype::bf16 && p.dtype != Dtype::fp16) {
    return fmt::format("computes bf16 and fp16, not {}", name(p.dtype));
  }
  if (prefill_tile(p.head_dim, p.value_dim()).BM == 0) {
    return fmt::format(
        "has no instance for head_dim {}{}", p.head_dim,
        p.value_dim() == p.head_dim ? "" : fmt::format(" with head_dim_v {}", p.value_dim()));
  }
  if (larger(p.n_q, p.n_k) > kMostTokens) return "counts the tokens of a sequence in 32 bits";
  const PrefillTile tile = prefill_tile(p.head_dim, p.value_dim());
  // Without packing there are the most blocks.
  const double most = static_cast<double>(p.batch) * static_cast<double>(p.heads_q) *
                      static_cast<double>(ceil_div(p.n_q, tile.BM / smaller(p.group(), tile.BM)));
  if (most > static_cast<double>(kMostBlocks)) return "a grid has at most 2^31 - 1 blocks";
  return std::nullopt;
}

PrefillPlan plan_prefill(const Problem& p) {
  PrefillPlan plan;
  plan.tile = prefill_tile(p.head_dim, p.value_dim());
  // All heads of a group in one tile: fewer positions, so a narrower band, unless the rows that do
  // not divide cost more than it saves.
  if (p.group() > 1 && p.group() <= plan.tile.BM &&
      issued_pairs(p, plan.tile, p.group()) < issued_pairs(p, plan.tile, 1)) {
    plan.heads = p.group();
  }
  plan.positions = plan.tile.BM / plan.heads;
  plan.query_tiles = ceil_div(p.n_q, plan.positions);
  plan.blocks = blocks(p, plan.heads, plan.query_tiles);
  return plan;
}

}  // namespace swa
