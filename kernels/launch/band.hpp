// How the band kernel for Hopper is launched: pure host functions, and the tiles that its instances
// are compiled with.
//
// A tile is 64 rows: `heads` query heads of a kv head at each of `positions` = 64 / heads query
// positions. Its band, the keys that some row of it sees, is walked in passes of 8 * blocks keys.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/launch/gpus.hpp"
#include "mask/window.hpp"

namespace swa {

struct Problem;

// An instance. Keys come in blocks of 8, and into the ring in entries.
struct BandTile {
  int head_dim = 0;
  int blocks = 0;       // of a pass; odd
  bool merged = false;  // one pass, whose first and last block share their scores
  int warpgroups = 0;   // that compute, a tile each; one more loads
  int registers = 0;    // of a thread that computes
  int entry = 0;        // keys

  static constexpr int kRows = 64;
  static constexpr int kRowBytes = 128;  // in shared memory: a row has 64 columns, 128 are two rows
  static constexpr int kHalfTileBytes = kRows * kRowBytes;  // of Q, 64 columns
  static constexpr int kWarpTileBytes = 16 * kRowBytes;     // of outputs, 64 columns
  static constexpr int kStateBytes = 80;                    // of a warp
  SWA_HD constexpr int loader_registers() const {
    return warpgroups == 3 ? 56 : warpgroups == 4 ? 32 : 24;
  }
  SWA_HD constexpr int halves() const { return head_dim / 64; }
  SWA_HD constexpr int threads() const { return 128 * (warpgroups + 1); }
  SWA_HD constexpr int query_bytes() const { return kHalfTileBytes * halves(); }
  SWA_HD constexpr int entry_bytes() const { return entry * kRowBytes; }  // of one half
  // The first entries of the ring lie once more behind its end, so that what begins near the end
  // goes on there: the keys of a pass; at head_dim 128 there is no room for those of v, but for the
  // two blocks that one product takes.
  SWA_HD constexpr int mirrored_k() const { return ((blocks - 1) * 8 + entry - 1) / entry; }
  SWA_HD constexpr int mirrored_v() const { return head_dim == 64 ? mirrored_k() : 1; }
  // Ones that sum up the weights, at head_dim 64 only.
  SWA_HD constexpr int ones_bytes() const { return head_dim == 64 ? 2048 : 0; }
  SWA_HD constexpr int out_bytes() const { return warpgroups * 4 * halves() * kWarpTileBytes; }
  SWA_HD constexpr int barriers(int slots, int stages) const {
    return 2 * slots + 2 * warpgroups * stages + 1;
  }
  // 1024 bytes to begin at a multiple of so many.
  SWA_HD constexpr int smem_bytes(int slots, int stages) const {
    return halves() * entry_bytes() * (2 * slots + mirrored_k() + mirrored_v()) +
           warpgroups * stages * query_bytes() + out_bytes() + ones_bytes() +
           8 * barriers(slots, stages) + 4 * warpgroups * kStateBytes + 1024;
  }
};

inline constexpr std::array kBandTiles{
    BandTile{64, 17, true, 4, 112, 32},  BandTile{64, 17, false, 3, 152, 32},
    BandTile{64, 13, false, 3, 152, 32}, BandTile{64, 9, false, 4, 112, 32},
    BandTile{128, 17, true, 3, 152, 16}, BandTile{128, 13, false, 2, 240, 16},
    BandTile{128, 9, false, 3, 152, 16},
};

inline constexpr Index kLongestBandPass = 8 * 17;  // keys

// What a launch does. A work unit is one round of the warpgroups, a tile each, along a sequence;
// units are counted over sequences, then head groups, then rounds, and each block owns a run of
// them.
struct BandPlan {
  int instance = 0;  // of kBandTiles
  BandTile tile;
  int heads = 0, positions = 0;  // of a tile
  int head_groups = 0;           // of a kv head: tiles that share its keys at the same positions
  int passes = 0;
  int slots = 0;         // of the ring, in entries
  int query_stages = 0;  // tiles of Q a warpgroup
  int blocks = 0;        // of the grid
  // Units before each sequence, [batch + 1]; empty where all have `rounds` for each head group.
  std::vector<int> first_unit;
  int rounds = 0;
  Index units = 0;

  // The first row's diagonal is so many keys after the first key of its band.
  int history() const { return 8 * tile.blocks * passes - positions; }
  int smem_bytes() const { return tile.smem_bytes(slots, query_stages); }
};

// Why there is no plan; nothing where there is one.
std::optional<std::string> band_unsupported(const Problem& problem, const GpuModel& gpu);
// Of a problem that is supported.
BandPlan plan_band(const Problem& problem, const GpuModel& gpu);
// Pairs that the tiles compute, hidden ones and idle rows included, over all heads and sequences.
double issued_pairs(const Problem& problem, const BandPlan& plan);
// Keys outside of a row's window that its weights of 0 are multiplied with, at most this far away.
Index band_granule();

}  // namespace swa
