// Pictures of masks and tiles for the terminal.
#pragma once

#include "report/report.hpp"
#include "tiles/rules.hpp"

namespace swa::commands {

// One letter a tile: F full, P partial, E visited with nothing visible, . never visited. Throws
// UsageError where the grid is more than 128 x 128 tiles.
report::Lines draw_tiles(const Mask& mask, TileShape tile, Rule rule);

// One letter a pair, x visible and . not, with the number of keys of each row. A mask of more rows
// or keys than fit on the terminal (128 where the output goes elsewhere) is drawn in blocks: x all
// pairs visible, + some, . none.
report::Lines draw_mask(const Mask& mask);

}  // namespace swa::commands
