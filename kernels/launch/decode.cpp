#include "kernels/launch/decode.hpp"

#include <fmt/format.h>

#include <limits>

#include "problem/problem.hpp"
#include "tiles/tiles.hpp"

namespace swa {
namespace {

constexpr Index kMostTokens = std::numeric_limits<std::int32_t>::max() - 1024;

// Stages of 16 keys that a sequence's rows need.
Index stages_of(const Mask& mask) {
  if (mask.n_q == 0) return 0;
  return tiles_of_query_tile(mask, {mask.n_q, DecodeTile::kKeys}, 0).size();
}

// Of the longest sequence.
Index longest_walk(const Problem& p) {
  Index longest = 0;
  for (const SharedMask& s : shared_masks(p)) longest = larger(longest, stages_of(s.mask));
  return longest;
}

}  // namespace

double decode_issued_pairs(const Problem& p) {
  double stages = 0;
  for (const SharedMask& s : shared_masks(p)) {
    const Index row_tiles = ceil_div(s.mask.n_q * p.group(), DecodeTile::kRows);
    stages += static_cast<double>(stages_of(s.mask)) * static_cast<double>(row_tiles) *
              static_cast<double>(s.sequences);
  }
  return stages * static_cast<double>(p.heads_kv) * DecodeTile::kRows * DecodeTile::kKeys;
}

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
