// What the portable prefill kernel is launched with, and the variants that it is compiled in.
#pragma once

#include <cstdint>

#include "kernels/launch/planted.hpp"
#include "kernels/launch/prefill.hpp"
#include "kernels/params.h"

namespace swa {

struct PrefillCall {
  ForwardParams params;
  int heads = 1, positions = 0, query_tiles = 0;  // as in PrefillPlan
  unsigned blocks = 0;
};

enum class Scores : std::uint8_t {
  plain,    // scale > 0, no softcap
  general,  // any scale and softcap
};

struct PrefillVariant {
  Scores scores = Scores::plain;
  TileLoop walk = TileLoop::window;
};

}  // namespace swa
