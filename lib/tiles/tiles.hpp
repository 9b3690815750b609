// Which tiles a windowed kernel visits, and what they cost.
//
// A query tile i covers the rows [i BM, min((i + 1) BM, n_q)), a key tile t the keys
// [t BN, min((t + 1) BN, n_k)). Nothing here evaluates the mask pair by pair: every answer comes
// from the first and last row of a tile. Proved against sees() by the property tests.
#pragma once

#include <cstdint>

#include "mask/window.hpp"

namespace swa {

struct TileShape {
  Index BM = 64, BN = 64;  // query rows and keys
};

enum class TileClass : std::uint8_t {
  empty,    // no pair of it is visible
  partial,  // some pairs are: the mask is needed
  full,     // all pairs are: no mask needed
};

// Key tiles, half-open.
struct TileRange {
  Index begin = 0, end = 0;
  SWA_HD constexpr Index size() const { return end - begin; }
};

// What an exact kernel visits for one query tile: two disjoint ranges, sinks.end <= band.begin.
// The sink tokens before the band are its second short loop.
struct TileWalk {
  TileRange sinks, band;
  SWA_HD constexpr Index size() const { return sinks.size() + band.size(); }
};

SWA_HD constexpr Index query_tiles(const Mask& mask, TileShape tile) {
  return ceil_div(mask.n_q, tile.BM);
}
SWA_HD constexpr Index key_tiles(const Mask& mask, TileShape tile) {
  return ceil_div(mask.n_k, tile.BN);
}

// Rows of a query tile and keys of a key tile, clipped to the problem.
SWA_HD constexpr KeyRange rows_of_tile(const Mask& mask, TileShape tile, Index query_tile) {
  return {query_tile * tile.BM, smaller((query_tile + 1) * tile.BM, mask.n_q)};
}
SWA_HD constexpr KeyRange keys_of_tile(const Mask& mask, TileShape tile, Index key_tile) {
  return {key_tile * tile.BN, smaller((key_tile + 1) * tile.BN, mask.n_k)};
}

// The tiles with at least one visible pair, and no other: the band of a tile runs from the first
// row's left bound to the last row's right bound, and each row's band overlaps or touches the next.
SWA_HD constexpr TileWalk tiles_of_query_tile(const Mask& mask, TileShape tile, Index query_tile) {
  const KeyRange rows = rows_of_tile(mask, tile, query_tile);
  const KeyRange band{band_begin(mask, rows.begin), band_end(mask, rows.end - 1)};
  TileWalk walk;
  if (!band.empty()) walk.band = {band.begin / tile.BN, ceil_div(band.end, tile.BN)};
  // The last row sees the most sink tokens: min(sinks, its right bound).
  const Index sinks = smaller(mask.sinks, band.end);
  walk.sinks = {0, ceil_div(sinks, tile.BN)};
  if (walk.band.size() > 0) walk.sinks.end = smaller(walk.sinks.end, walk.band.begin);
  return walk;
}

SWA_HD constexpr TileClass classify(const Mask& mask, TileShape tile, Index query_tile,
                                    Index key_tile) {
  const KeyRange rows = rows_of_tile(mask, tile, query_tile);
  const KeyRange keys = keys_of_tile(mask, tile, key_tile);
  // The first row has the lowest right bound and the last row the highest left bound, so these two
  // decide for all. Keys left of that bound are still visible where they are sink tokens.
  const Index left = band_begin(mask, rows.end - 1);
  const bool left_ok = keys.begin >= left || smaller(keys.end, left) <= mask.sinks;
  if (keys.end <= band_end(mask, rows.begin) && left_ok) return TileClass::full;

  const Index highest = band_end(mask, rows.end - 1);
  const bool in_band = keys.begin < highest && keys.end > band_begin(mask, rows.begin);
  const bool in_sinks = keys.begin < smaller(mask.sinks, highest);
  return in_band || in_sinks ? TileClass::partial : TileClass::empty;
}

struct TileCounts {
  Index full = 0, partial = 0;
  Index empty = 0;    // visited with nothing visible: 0 for exact bounds
  Index skipped = 0;  // in the grid and never visited
  Index visited = 0;  // full + partial + empty
  Index partial_max_per_query_tile = 0;
};

// Counts over all query tiles of one head, in O(query tiles).
// Throws UsageError where there are more than 2^26 of them, or where a count passes 2^63.
TileCounts count_tiles(const Mask& mask, TileShape tile);

// Pairs (row, key) that the mask lets through, in O(1). Throws UsageError past 2^63 - 1.
Index visible_pairs(const Mask& mask);
// Keys that at least one row sees.
Index live_keys(const Mask& mask);

// FlexAttention's BlockMask.sparsity() in percent: 100 (1 - visited BM BN / (n_q n_k)).
// Below 0 where the edge tiles hang over the problem.
double sparsity_percent(const Mask& mask, TileShape tile, Index visited);
// Visible pairs / (visited BM BN), 0 to 1; 0 where nothing is visited.
double useful_fraction(Index visible, TileShape tile, Index visited);

// What one head costs, in FLOP and bytes, as doubles: only shares and rates are made of them.
struct Work {
  double useful_flops;  // 2 (head_dim + head_dim_v) per visible pair
  double issued_flops;  // the same per pair of a visited tile
  double least_bytes;   // Q, O, and each live key's K and V, once
  double walked_bytes;  // Q, O, and K and V of every visited tile, as if no cache held them
};
Work work_of(const Mask& mask, TileShape tile, Index visited, Index head_dim, Index head_dim_v,
             Index bytes_per_element);

}  // namespace swa
