// Which keys a block reads, and which of them each row sees. The host can ask too.
#pragma once

#include "kernels/launch/prefill.hpp"
#include "kernels/params.h"
#include "tiles/tiles.hpp"

namespace swa::portable {

// Half-open, keys of a sequence.
struct Keys {
  int begin, end;
};

// What one row sees: the keys [begin, end), and the sink tokens below end.
SWA_HD inline bool sees_key(Keys row, int sinks, int key) {
  return key < row.end && (key >= row.begin || key < sinks);
}

// The key tiles of a query tile, in the order of the walk.
struct Visits {
  int sinks, band_begin, count;  // tiles
  Keys band;                     // the keys that some row sees, sink tokens aside
  int sink_keys;                 // sink tokens that some row sees

  SWA_HD int tile(int visit) const { return visit < sinks ? visit : band_begin + visit - sinks; }
  SWA_HD bool wants(int key) const {
    return (key >= band.begin && key < band.end) || key < sink_keys;
  }
  SWA_HD bool want_all(int first, int size) const {
    return first >= band.begin && first + size <= band.end;
  }
};

SWA_HD inline Visits visits_of(const Mask& mask, TileShape tile, Index query_tile, TileLoop walk) {
  Visits visits;
  TileWalk tiles{{0, 0}, {0, ceil_div(mask.n_k, tile.BN)}};
  if (walk == TileLoop::window) tiles = tiles_of_query_tile(mask, tile, query_tile);
  visits.sinks = static_cast<int>(tiles.sinks.size());
  visits.band_begin = static_cast<int>(tiles.band.begin);
  visits.count = static_cast<int>(tiles.size());
  const KeyRange rows = rows_of_tile(mask, tile, query_tile);
  visits.band = {static_cast<int>(band_begin(mask, rows.begin)),
                 static_cast<int>(band_end(mask, rows.end - 1))};
  visits.sink_keys = static_cast<int>(smaller(mask.sinks, visits.band.end));
  return visits;
}

}  // namespace swa::portable
