// Which columns of a tile's band its rows see. The host can ask too.
#pragma once

#include "mask/window.hpp"

namespace swa::sm90 {

// The row at position i of the tile sees the columns band + i to history + i.
struct BandColumns {
  int history = 0, band = 0;
  int positions = 1;  // of the tile

  // Of a window of so many keys.
  static SWA_HD BandColumns of(int history, Index window, int positions) {
    return {history, history + 1 - static_cast<int>(smaller(window, history + 1)), positions};
  }

  // Whether each row sees all of these; otherwise some are to be hidden from some.
  SWA_HD bool all_see(int first, int count) const {
    return first >= band + positions - 1 && first + count <= history + 1;
  }
};

}  // namespace swa::sm90
