// Which tiles a windowed kernel visits.
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

}  // namespace swa
