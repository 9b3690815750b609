// The portable prefill kernel with a fault planted at a single place, to show what verify finds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/launch/prefill.hpp"

namespace swa {

enum class Planted : std::uint8_t {
  nothing,
  no_guard,             // a row that has seen no key yet subtracts -inf from -inf
  one_too_wide,         // W is taken for a left count
  top_left,             // row 0 sits at key 0
  starts_a_tile_late,   // the tile in which the band begins is left out
  first_tile_unmasked,  // the left bound is in the loop alone
};

struct PlantedFault {
  Planted planted = Planted::nothing;
  std::string_view fault;  // its name in the catalogue of verify
};
inline constexpr std::array kPlantedFaults{
    PlantedFault{Planted::no_guard, "nan-after-masked-tile"},
    PlantedFault{Planted::one_too_wide, "window-one-too-wide"},
    PlantedFault{Planted::top_left, "top-left"},
    PlantedFault{Planted::starts_a_tile_late, "loop-starts-a-tile-late"},
    PlantedFault{Planted::first_tile_unmasked, "no-mask-in-first-tile"},
};

// They are what the catalogue says, but for rows that see no key. They are compiled for bf16, for
// plain scores, and for few head dims.
inline constexpr std::array kPlantedHeadDims{64, 128};
// Why the planted kernel does not take a problem; nothing where it does.
std::optional<std::string> planted_unsupported(const Problem& problem, Planted planted);
// In query positions and keys, the tile that decides which rows the fault meets: for no_guard that
// of a warp, which skips the tiles that none of its rows sees. Of a problem that is supported.
TileShape planted_tile(const Problem& problem, Planted planted);

}  // namespace swa
