// How the portable prefill kernel is launched: pure host functions, and the tiles that its
// instances are compiled with.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "mask/window.hpp"
#include "tiles/tiles.hpp"

namespace swa {

struct Problem;
struct TileCounts;

// The tile of one instance, in rows of packed query heads and in keys.
struct PrefillTile {
  int head_dim = 0, head_dim_v = 0;
  int BM = 0, BN = 0;
  int warps = 0;
  int blocks = 0;  // that should fit on a multiprocessor: bounds the registers
  int slots = 0;   // tiles of K or V in shared memory: in flight, or in use

  constexpr int threads() const { return 32 * warps; }
  // 16-row fragments of a warp.
  constexpr int fragments() const { return BM / (16 * warps); }
  // 16 bytes of padding a row keep the rows of a fragment in different banks.
  constexpr int pitch() const { return (head_dim < head_dim_v ? head_dim_v : head_dim) + 8; }
  // Bounds of each row, Q, and the slots.
  constexpr int smem_bytes() const { return BM * 8 + (BM + slots * BN) * pitch() * 2; }
};

inline constexpr std::array kPrefillTiles{
    PrefillTile{64, 64, 128, 64, 4, 2, 4},  PrefillTile{80, 80, 128, 64, 4, 2, 4},
    PrefillTile{96, 96, 128, 64, 4, 2, 4},  PrefillTile{128, 128, 128, 64, 4, 2, 3},
    PrefillTile{192, 192, 64, 32, 4, 2, 3}, PrefillTile{192, 128, 64, 32, 4, 2, 3},
    PrefillTile{256, 256, 64, 32, 4, 2, 3},
};
inline constexpr Index kLongestPrefillTile = 128;  // rows
// An instance of the head dims; one without rows where there is none.
constexpr PrefillTile prefill_tile(Index head_dim, Index head_dim_v) {
  for (const PrefillTile& tile : kPrefillTiles) {
    if (tile.head_dim == head_dim && tile.head_dim_v == head_dim_v) return tile;
  }
  return {};
}

// The tile for elements of 4 bytes (fp32, tf32), 16 rows a warp.
struct Fp32Tile {
  int dim = 0;  // head_dim and head_dim_v, at most
  int BM = 0, BN = 0;

  constexpr int threads() const { return BM * 2; }
  // Elements of a row in shared memory: 4 of padding keep the rows of a fragment in different
  // banks.
  constexpr int pitch() const { return dim + 4; }
  // Q, K, V, and the bounds of each row.
  constexpr int smem_bytes() const { return 4 * (BM + 2 * BN) * pitch() + BM * 8; }
};

inline constexpr std::array kFp32Tiles{Fp32Tile{64, 64, 32}, Fp32Tile{128, 64, 32},
                                       Fp32Tile{256, 32, 16}};
// The smallest that holds so many elements; one without rows where none does.
constexpr Fp32Tile fp32_tile(Index dim) {
  for (const Fp32Tile& tile : kFp32Tiles) {
    if (tile.dim >= dim) return tile;
  }
  return {};
}

// What a launch does. One block computes `positions` query positions of `heads` query heads that
// share a kv head: row r of its tile is head r % heads at position r / heads. Rows past
// positions * heads are idle.
struct PrefillPlan {
  int BM = 0, BN = 0;  // rows and keys of a tile
  int threads = 0, smem_bytes = 0;
  Index heads = 1, positions = 0;
  Index query_tiles = 0;  // of the longest sequence
  Index blocks = 0;       // of the grid

  // In query positions and keys: the tiles that it visits are those of lib/tiles for this shape.
  TileShape shape() const { return {positions, BN}; }
};

// Whether the window bounds the loop, or is left to the mask.
enum class TileLoop : std::uint8_t {
  window,  // visits the tiles with a visible pair and no other
  all,     // visits every key tile
};

// Why there is no plan; nothing where there is one.
std::optional<std::string> prefill_unsupported(const Problem& problem);
// Of a problem that is supported.
PrefillPlan plan_prefill(const Problem& problem);
// The tiles of the heads of one tile, over all sequences. `masked` is not counted where the window
// bounds the loop: each warp decides for its own rows.
TileCounts prefill_tiles(const Problem& problem, const PrefillPlan& plan, TileLoop walk);
// Pairs that the tiles compute, hidden ones and idle rows included, over all heads and sequences.
double issued_pairs(const Problem& problem, const PrefillPlan& plan, TileLoop walk);

}  // namespace swa
