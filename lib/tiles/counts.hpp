// How many tiles a kernel visits, and what they cost: counts of one head, exact in 128 bits.
//
// Nothing here walks over all query tiles. What a tile contributes repeats from period to period
// of the grid wherever no bound of the mask is clipped, so only the first periods between two
// clippings are looked at, tile by tile, and the rest follows. The cost depends on the shapes of
// tile and chunk, and not on n. Proved equal to brute force over sees() by the property tests.
#pragma once

#include "mask/count.hpp"
#include "tiles/rules.hpp"
#include "tiles/tiles.hpp"

namespace swa {

// Throws UsageError past 2^127.
Count product(Count count, Index times);

struct TileCounts {
  Count full = 0, partial = 0;
  Count empty = 0;    // visited with nothing visible: 0 for exact bounds
  Count skipped = 0;  // in the grid and never visited
  Count visited = 0;  // full + partial + empty
  Count masked = 0;   // visited tiles whose scores pass through the mask
  Count partial_max_per_query_tile = 0;

  // Of several heads, layers or sequences together; the maximum is that of any of them.
  TileCounts& operator+=(const TileCounts& other);
  friend TileCounts operator*(TileCounts counts, Index times);
};

// Throws UsageError where the rule does not describe the mask, or where more than 2^26 query tiles
// would have to be looked at one by one: a chunk and tiles that share no common step.
TileCounts count_tiles(const Mask& mask, TileShape tile, Rule rule = Rule::exact);

// Pairs (row, key) that the mask lets through, in O(1).
Count visible_pairs(const Mask& mask);
// Keys that at least one row sees.
Index live_keys(const Mask& mask);

// FlexAttention's BlockMask.sparsity() in percent: 100 (1 - visited BM BN / pairs), where pairs is
// n_q n_k. Below 0 where the edge tiles hang over the problem.
double sparsity_percent(Count pairs, TileShape tile, Count visited);
// Visible pairs / (visited BM BN), 0 to 1; 0 where nothing is visited.
double useful_fraction(Count visible, TileShape tile, Count visited);

// What one head costs, in FLOP and bytes, as doubles: only shares and rates are made of them.
struct Work {
  double useful_flops = 0;  // 2 (head_dim + head_dim_v) per visible pair
  double issued_flops = 0;  // the same per pair of a visited tile
  double least_bytes = 0;   // Q, O, and each live key's K and V, once
  double walked_bytes = 0;  // Q, O, and K and V of every visited tile, as if no cache held them

  Work& operator+=(const Work& other);
  friend Work operator*(const Work& work, double times) {
    return {work.useful_flops * times, work.issued_flops * times, work.least_bytes * times,
            work.walked_bytes * times};
  }
};
Work work_of(const Mask& mask, TileShape tile, Count visited, Index head_dim, Index head_dim_v,
             Index bytes_per_element);

}  // namespace swa
