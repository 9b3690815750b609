#include "kernels/launch/decode.hpp"

#include <fmt/format.h>

#include <limits>

#include "problem/problem.hpp"
#include "tiles/counts.hpp"
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

TileCounts decode_tiles(const Problem& p) {
  TileCounts sum;
  for (const SharedMask& s : shared_masks(p)) {
    const Index rows = s.mask.n_q * p.group(), stages = stages_of(s.mask);
    const Index key_tiles = ceil_div(s.mask.n_k, DecodeTile::kKeys);
    TileCounts tiles;
    // Every 16 rows walk over what any row of the call sees. Which of it theirs see, their
    // positions say, as a call of these alone.
    for (Index row = 0, times = 1; row < rows; row += times * DecodeTile::kRows) {
      const Index begin = row / p.group();
      const Index end = ceil_div(smaller(row + DecodeTile::kRows, rows), p.group());
      Mask seen = s.mask;
      seen.n_q = end - begin;
      seen.q_offset += begin;
      const Tally own = tally(seen, {seen.n_q, DecodeTile::kKeys}, Rule::exact, 0);
      TileCounts one;
      one.full = own.full;
      one.partial = one.partial_max_per_query_tile = own.partial;
      one.empty = stages - own.visited;
      one.visited = one.masked = stages;
      one.skipped = key_tiles - stages;
      // Rows of one position are alike, however many heads there are.
      times = seen.n_q == 1 ? larger(1, (end * p.group() - row) / DecodeTile::kRows) : 1;
      tiles += one * times;
    }
    sum += tiles * s.sequences;
  }
  return sum;
}

double decode_issued_pairs(const Problem& p) {
  return static_cast<double>(decode_tiles(p).visited) * static_cast<double>(p.heads_kv) *
         DecodeTile::kRows * DecodeTile::kKeys;
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
