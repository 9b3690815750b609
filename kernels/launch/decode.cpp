#include "kernels/launch/decode.hpp"

#include <fmt/format.h>

#include <limits>

#include "problem/problem.hpp"
#include "tiles/tiles.hpp"

namespace swa {
namespace {

constexpr Index kMostTokens = std::numeric_limits<std::int32_t>::max() - 1024;

// Stages of 16 keys that the rows of the longest sequence need.
Index longest_walk(const Problem& p) {
  Index longest = 0;
  for (const SharedMask& s : shared_masks(p)) {
    if (s.mask.n_q == 0) continue;
    const TileShape shape{s.mask.n_q, DecodeTile::kKeys};
    longest = larger(longest, tiles_of_query_tile(s.mask, shape, 0).size());
  }
  return longest;
}

}  // namespace

std::optional<std::string> decode_unsupported(const Problem& p) {
  if (p.n_q > kMostDecodeQueries) {
    return fmt::format("takes at most {} queries of a sequence", kMostDecodeQueries);
  }
  if (p.dtype != Dtype::bf16 && p.dtype != Dtype::fp16) {
    return fmt::format("computes bf16 and fp16, not {}", name(p.dtype));
  }
  if (decode_tile(p.head_dim, p.value_dim()).warps == 0) {
    return fmt::format(
        "has no instance for head_dim {}{}", p.head_dim,
        p.value_dim() == p.head_dim ? "" : fmt::format(" with head_dim_v {}", p.value_dim()));
  }
  if (p.n_k > kMostTokens) return "counts the tokens of a sequence in 32 bits";
  const double rows =
      static_cast<double>(p.batch) * static_cast<double>(p.heads_q) * static_cast<double>(p.n_q);
  if (rows > std::numeric_limits<std::int32_t>::max()) return "a grid has at most 2^31 - 1 blocks";
  return std::nullopt;
}

DecodePlan plan_decode(const Problem& p, int multiprocessors) {
  DecodePlan plan;
  plan.tile = decode_tile(p.head_dim, p.value_dim());
  plan.row_tiles = ceil_div(p.n_q * p.group(), DecodeTile::kRows);
  const Index items = p.batch * p.heads_kv * plan.row_tiles;
  // Enough blocks to fill the device twice, but for each warp a stage to read while it computes on
  // another: the merge costs more than a shorter walk saves.
  const Index wanted = ceil_div(2 * Index{multiprocessors}, items);
  const Index most = longest_walk(p) / (2 * plan.tile.warps);
  plan.splits = clamp(wanted, 1, larger(most, 1));
  plan.blocks = items * plan.splits;
  return plan;
}

}  // namespace swa
