// What is known of an instance of the band kernel when it is compiled, and where things lie in
// shared memory.
#pragma once

#include <cstdint>

#include "kernels/launch/band.hpp"
#include "kernels/sm90/band_call.hpp"

namespace swa::sm90 {

template <class Element_, int kTile>
struct Band {
  using Element = Element_;
  static constexpr BandTile kBand = kBandTiles[kTile];
  static constexpr int kBlocks = kBand.blocks, kHalves = kBand.halves();
  static constexpr int kWarpgroups = kBand.warpgroups;
  static constexpr int kSums = 4 * kBlocks;  // of scores, a thread
  // Of outputs; at head_dim 64 the last four are sums of the weights, of which the thread's rows
  // have one each.
  static constexpr bool kSumsByProduct = kBand.head_dim == 64;
  static constexpr int kOutputs = kBand.head_dim / 2 + (kSumsByProduct ? 4 : 0);
  static constexpr int kPairs = kBand.head_dim / 4;  // of finished outputs, a thread

  // What is the same in all calls of an instance is known to the compiler: that takes a third of
  // the instructions out of the merged one's loop.
  static constexpr int kMergedHeads = 8;
  static constexpr int kMergedPositions = BandTile::kRows / kMergedHeads;
  static constexpr int kMergedHistory = 8 * kBlocks - kMergedPositions;
  static __device__ int heads(const BandCall& call) {
    return kBand.merged ? kMergedHeads : call.heads;
  }
  static __device__ int head_bits(const BandCall& call) {
    return kBand.merged ? 3 : call.head_bits;
  }
  static __device__ int positions(const BandCall& call) {
    return kBand.merged ? kMergedPositions : call.positions;
  }
  static __device__ int history(const BandCall& call) {
    return kBand.merged ? kMergedHistory : call.history;
  }
  static __device__ int passes(const BandCall& call) { return kBand.merged ? 1 : call.passes; }

  // Whether the ring goes on by one entry a round, and how many entries a tile then reads.
  static constexpr bool kEntryARound =
      kBand.merged && kWarpgroups * kMergedPositions == kBand.entry;
  static constexpr int kEntriesOfTile = (kMergedHistory + kBand.entry - 1) / kBand.entry + 1;
};

// Where things lie in shared memory.
template <class Config>
struct BandMemory {
  std::uint32_t k, v, q, out, ones, full, free, q_full, q_free, edge, states;
  std::uint32_t k_half, v_half;  // bytes from the first 64 columns to the others

  __device__ BandMemory(const BandCall& call, std::uint32_t base) {
    constexpr BandTile kBand = Config::kBand;
    k_half = (call.slots + kBand.mirrored_k()) * kBand.entry_bytes();
    v_half = (call.slots + kBand.mirrored_v()) * kBand.entry_bytes();
    k = base;
    v = k + Config::kHalves * k_half;
    q = v + Config::kHalves * v_half;
    out = q + kBand.warpgroups * call.query_stages * kBand.query_bytes();
    ones = out + kBand.out_bytes();
    full = ones + kBand.ones_bytes();
    free = full + 8 * call.slots;
    q_full = free + 8 * call.slots;
    q_free = q_full + 8 * kBand.warpgroups * call.query_stages;
    edge = q_free + 8 * kBand.warpgroups * call.query_stages;
    states = edge + 8;
  }
};

// A place in a ring, and the parity of its turn.
struct RingPlace {
  int slot = 0;
  unsigned parity = 0;

  __device__ void step(int slots) {
    if (++slot == slots) {
      slot = 0;
      parity ^= 1;
    }
  }
};

}  // namespace swa::sm90
