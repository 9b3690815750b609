// The chapter's Case 1 on the CPU: tiles, online softmax, the window in the loop bounds. Written
// as a kernel would be: it takes its bounds and masks from tile and key ranges, never from sees().
#pragma once

#include <vector>

#include "problem/problem.hpp"
#include "tiles/tiles.hpp"

namespace swa {

enum class Walk : std::uint8_t {
  forward,  // band tiles left to right, then the sink tiles
  reverse,  // band tiles right to left, from the diagonal, then the sink tiles
};

struct TiledOptions {
  TileShape tile;
  Walk walk = Walk::forward;
  // Replaces a running maximum of -inf by 0 before it is subtracted. Without it a row whose first
  // visited tile holds none of its keys becomes NaN: exp(-inf - -inf).
  bool guard = true;
};

// The key tiles of a query tile in the order in which the tiled forward visits them.
std::vector<Index> visit_order(const TileWalk& walk, Walk order);

struct TiledResult : Attention {
  Index full = 0, partial = 0, empty = 0;  // visited tiles by class, over all heads
};

// Real (float or double) is the type of scores, weights and accumulators. Outputs are not rounded
// to the problem's dtype.
template <class Real>
TiledResult tiled_forward(const Problem& problem, const Inputs& inputs,
                          const TiledOptions& options);

// Bytes that it holds besides the inputs, as a double: inputs and outputs in its own type, and the
// scores of one tile for each core.
double tiled_bytes(const Problem& problem, TileShape tile);

extern template TiledResult tiled_forward<float>(const Problem&, const Inputs&,
                                                 const TiledOptions&);
extern template TiledResult tiled_forward<double>(const Problem&, const Inputs&,
                                                  const TiledOptions&);

}  // namespace swa
