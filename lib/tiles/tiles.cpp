#include "tiles/tiles.hpp"

#include <fmt/format.h>

#include <limits>

#include "error.hpp"

namespace swa {
namespace {

__extension__ typedef __int128 Wide;

constexpr Index kMaxQueryTiles = Index{1} << 26;

Index narrow(Wide count, const char* what) {
  if (count > std::numeric_limits<Index>::max()) {
    throw UsageError(fmt::format("the number of {} passes 2^63", what),
                     "ask for a smaller problem");
  }
  return static_cast<Index>(count);
}

// Tiles of the walk that need no mask. The bounds are those of classify(), solved for the tile.
Index count_full(const Mask& mask, TileShape tile, Index query_tile) {
  const KeyRange rows = rows_of_tile(mask, tile, query_tile);
  const Index right = band_end(mask, rows.begin);
  const Index end = right >= mask.n_k ? key_tiles(mask, tile) : right / tile.BN;
  const Index left = band_begin(mask, rows.end - 1);
  if (left <= mask.sinks) return end;  // every key before the band is a sink token
  const Index band = larger(0, end - ceil_div(left, tile.BN));
  // sinks < left <= n_k here, so a tile of nothing but sink tokens is never clipped.
  return band + smaller(end, mask.sinks / tile.BN);
}

// Sum over p = first .. first + count - 1 of clamp(p, 0, top).
Wide sum_of_clamped(Index first, Index count, Index top) {
  const auto sum_below = [top](Index end) -> Wide {  // over p < end, in closed form
    if (end <= 0) return 0;
    const Wide rising = smaller(end, top + 1);
    return rising * (rising - 1) / 2 + Wide{end - static_cast<Index>(rising)} * top;
  };
  return sum_below(first + count) - sum_below(first);
}

}  // namespace

TileCounts count_tiles(const Mask& mask, TileShape tile) {
  const Index rows = query_tiles(mask, tile);
  if (rows > kMaxQueryTiles) {
    throw UsageError(
        fmt::format("{} rows in tiles of {} are {} query tiles, more than the 2^26 that "
                    "are counted one by one",
                    mask.n_q, tile.BM, rows),
        "ask for a larger BM or fewer rows");
  }
  Wide full = 0, visited = 0;
  TileCounts counts;
  for (Index i = 0; i < rows; ++i) {
    const Index in_walk = tiles_of_query_tile(mask, tile, i).size();
    const Index unmasked = count_full(mask, tile, i);
    visited += in_walk;
    full += unmasked;
    counts.partial_max_per_query_tile =
        larger(counts.partial_max_per_query_tile, in_walk - unmasked);
  }
  counts.visited = narrow(visited, "visited tiles");
  counts.full = narrow(full, "full tiles");
  counts.partial = counts.visited - counts.full;
  counts.skipped = narrow(Wide{rows} * key_tiles(mask, tile), "tiles") - counts.visited;
  return counts;
}

Index visible_pairs(const Mask& mask) {
  const Side left = mask.window.reach_left(), right = mask.window.reach_right();
  const Wide ends = right.bounded
                        ? sum_of_clamped(mask.q_offset + right.reach + 1, mask.n_q, mask.n_k)
                        : Wide{mask.n_q} * mask.n_k;
  Wide before_band = 0, sinks = 0;
  if (left.bounded) {
    before_band = sum_of_clamped(mask.q_offset - left.reach, mask.n_q, mask.n_k);
    sinks = sum_of_clamped(mask.q_offset - left.reach, mask.n_q, smaller(mask.sinks, mask.n_k));
  }
  return narrow(ends - before_band + sinks, "visible pairs");
}

Index live_keys(const Mask& mask) {
  if (mask.n_q == 0) return 0;
  const Index end = band_end(mask, mask.n_q - 1);
  const Index begin = band_begin(mask, 0);
  return end - begin + smaller(mask.sinks, begin);
}

double sparsity_percent(const Mask& mask, TileShape tile, Index visited) {
  const double computed =
      static_cast<double>(visited) * static_cast<double>(tile.BM) * static_cast<double>(tile.BN);
  return 100 * (1 - computed / (static_cast<double>(mask.n_q) * static_cast<double>(mask.n_k)));
}

double useful_fraction(Index visible, TileShape tile, Index visited) {
  if (visited == 0) return 0;
  return static_cast<double>(visible) / static_cast<double>(visited) /
         (static_cast<double>(tile.BM) * static_cast<double>(tile.BN));
}

Work work_of(const Mask& mask, TileShape tile, Index visited, Index head_dim, Index head_dim_v,
             Index bytes_per_element) {
  const double dims = static_cast<double>(head_dim) + static_cast<double>(head_dim_v);
  const double bytes_per_token = dims * static_cast<double>(bytes_per_element);
  const double issued_pairs =
      static_cast<double>(visited) * static_cast<double>(tile.BM) * static_cast<double>(tile.BN);
  // Q and O together are as wide as K and V together.
  const double q_and_o = static_cast<double>(mask.n_q) * bytes_per_token;
  return {2 * dims * static_cast<double>(visible_pairs(mask)), 2 * dims * issued_pairs,
          q_and_o + static_cast<double>(live_keys(mask)) * bytes_per_token,
          q_and_o + static_cast<double>(visited) * static_cast<double>(tile.BN) * bytes_per_token};
}

}  // namespace swa
