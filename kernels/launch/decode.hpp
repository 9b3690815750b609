// How the portable decode kernel is launched: pure host functions, and the tiles that its instances
// are compiled with.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "mask/window.hpp"

namespace swa {

struct Problem;
struct TileCounts;

// One instance. A warp has a private ring of stages; a stage holds K and V of 16 keys.
struct DecodeTile {
  int head_dim = 0, head_dim_v = 0;
  int warps = 0, stages = 0;

  static constexpr int kRows = 16;  // packed query heads and positions of a block
  static constexpr int kKeys = 16;  // of a stage
  constexpr int threads() const { return 32 * warps; }
  // Bytes of a row in shared memory: 16 of padding keep the rows of a fragment in different banks.
  constexpr int k_pitch() const { return 2 * head_dim + 16; }
  constexpr int v_pitch() const { return 2 * head_dim_v + 16; }
  constexpr int stage_bytes() const { return kKeys * (k_pitch() + v_pitch()); }
  // Bounds and Q of the rows, then the stages; in the end the outputs of the warps take the place
  // of the stages.
  constexpr int smem_bytes() const {
    const int ring = warps * stages * stage_bytes(), sums = warps * kRows * (head_dim_v + 2) * 4;
    return kRows * (8 + k_pitch()) + (ring < sums ? sums : ring);
  }
};

inline constexpr std::array kDecodeTiles{
    DecodeTile{64, 64, 4, 3},   DecodeTile{80, 80, 4, 3},   DecodeTile{96, 96, 4, 2},
    DecodeTile{128, 128, 4, 2}, DecodeTile{192, 192, 3, 2}, DecodeTile{192, 128, 3, 2},
    DecodeTile{256, 256, 2, 2},
};
// An instance of the head dims; one without warps where there is none.
constexpr DecodeTile decode_tile(Index head_dim, Index head_dim_v) {
  for (const DecodeTile& tile : kDecodeTiles) {
    if (tile.head_dim == head_dim && tile.head_dim_v == head_dim_v) return tile;
  }
  return {};
}

inline constexpr Index kMostDecodeQueries = 16;

// What a launch does. A block computes 16 rows of one kv head, row r being head r % group at
// position r / group, over one of `splits` parts of the keys that the call sees; the last block of
// its rows to end merges the parts.
struct DecodePlan {
  DecodeTile tile;
  Index row_tiles = 0, splits = 0;
  Index blocks = 0;  // of the grid

  Index rows() const { return blocks / splits * DecodeTile::kRows; }
};

std::optional<std::string> decode_unsupported(const Problem& problem);
// Of a problem that is supported, for a device of so many multiprocessors.
DecodePlan plan_decode(const Problem& problem, int multiprocessors);
// The tiles of one kv head, 16 rows of 16 keys each, over all sequences. All pass through the mask.
TileCounts decode_tiles(const Problem& problem);
// Pairs that its tiles compute, hidden ones and idle rows included, over all heads and sequences.
double decode_issued_pairs(const Problem& problem);

}  // namespace swa
