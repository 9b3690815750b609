// What the portable prefill kernel is launched with, and the variants that it is compiled in.
#pragma once

#include <cstdint>

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

// Wrong on purpose, to show what verify finds.
enum class Planted : std::uint8_t {
  nothing,
  no_guard,  // a row that has seen no key yet subtracts -inf from -inf: the first-tile NaN
};

// Plain or general scores with the window in the loop bounds or in the mask, or plain scores,
// bounds and a planted fault.
struct PrefillVariant {
  Scores scores = Scores::plain;
  Walk walk = Walk::window;
  Planted planted = Planted::nothing;
};

}  // namespace swa
