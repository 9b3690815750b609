// Faults that are planted in what the prefill kernel knows of its mask: see launch/planted.hpp.
#pragma once

#include "kernels/launch/planted.hpp"
#include "kernels/portable/visits.cuh"

namespace swa::portable {

template <Planted kPlanted>
SWA_HD inline void plant(Mask& mask) {
  if constexpr (kPlanted == Planted::one_too_wide) {
    Window& window = mask.window;
    if (window.kind == Window::Kind::causal) ++window.width;
    if (window.kind == Window::Kind::band) ++window.left.reach;  // not read where unbounded
  }
  if constexpr (kPlanted == Planted::top_left) mask.q_offset = 0;
}

// What the block reads.
template <Planted kPlanted>
SWA_HD inline void plant(Visits& visits, int BN) {
  if constexpr (kPlanted == Planted::first_tile_unmasked) {
    visits.band.begin = visits.band.begin / BN * BN;
  }
}

// What a row of the query tile sees, whose first row's band begins at key `first`.
template <Planted kPlanted>
SWA_HD inline void plant(Keys& row, Index first, int BN) {
  if constexpr (kPlanted == Planted::starts_a_tile_late) {
    row.begin = static_cast<int>(larger(row.begin, ceil_div(first, BN) * BN));
  }
  if constexpr (kPlanted == Planted::first_tile_unmasked) {
    if (first > 0) row.begin = static_cast<int>(first / BN * BN);
  }
}

}  // namespace swa::portable
