// Which tiles a block of the band kernel owns: its run of work units, cut into segments that lie
// in one sequence and one head group. Every warp of the block walks over the same segments.
#pragma once

#include "kernels/params.h"
#include "kernels/sm90/band_call.hpp"

namespace swa::sm90 {

// Query positions, and keys, are those of the sequence.
struct Segment {
  int entry, q_row, k_row;  // of the sequence in the tensors
  int n_q, n_k, q_offset;   // as in Mask
  int kv_head, first_head;  // of the group of the kv head, in the tile's first row
  int first_position, tiles;
  int first_key;  // of the first tile's band: negative ones do not exist
};

// What is loaded is the same in all lanes, which the compiler takes from the broadcast: registers
// and branches of the whole warp then do for what follows from it.
__device__ inline int broadcast(Index x) {
  return __shfl_sync(~0U, static_cast<int>(x), 0);
}

class BandWalk {
 public:
  __device__ explicit BandWalk(const BandCall& call) {
    const int groups = static_cast<int>(call.params.heads_kv) * call.head_groups;
    const int blocks = static_cast<int>(gridDim.x);
    int block = static_cast<int>(blockIdx.x);
    // Neighbours walk along the same positions of different heads, whose rows lie side by side.
    if (call.params.batch == 1 && blocks % groups == 0) {
      block = block % groups * (blocks / groups) + block / groups;
    }
    unit_ = static_cast<int>(static_cast<Index>(call.units) * block / blocks);
    end_ = static_cast<int>(static_cast<Index>(call.units) * (block + 1) / blocks);
  }

  __device__ bool next(const BandCall& call, int warpgroups, Segment& segment) {
    const int unit = unit_;
    if (unit >= end_) return false;
    const int groups = static_cast<int>(call.params.heads_kv) * call.head_groups;
    // Units of earlier sequences, and rounds of a head group.
    int before = 0, rounds = call.rounds, sequence = 0;
    if (call.first_unit == nullptr) {
      sequence = unit / (groups * rounds);
      before = sequence * groups * rounds;
    } else {
      sequence = find_sequence(call, unit);
      before = broadcast(call.first_unit[sequence]);
      rounds = (broadcast(call.first_unit[sequence + 1]) - before) / groups;
    }
    const int group = (unit - before) / rounds, round = unit - before - group * rounds;
    const int count = min(end_ - unit, rounds - round);
    unit_ = unit + count;
    sequence_ = sequence;

    const CallSequence s = sequence_of(call.params, sequence);
    segment.entry = broadcast(s.entry);
    segment.q_row = broadcast(s.q_row);
    segment.k_row = broadcast(s.k_row);
    segment.n_q = broadcast(s.mask.n_q);
    segment.n_k = broadcast(s.mask.n_k);
    segment.q_offset = broadcast(s.mask.q_offset);
    segment.kv_head = group / call.head_groups;
    segment.first_head = group % call.head_groups * call.heads;
    const int first_tile = round * warpgroups;
    segment.first_position = first_tile * call.positions;
    const int tiles = (segment.n_q - segment.first_position + call.positions - 1) / call.positions;
    segment.tiles = min(count * warpgroups, tiles);
    segment.first_key = segment.first_position + segment.q_offset - call.history;
    return true;
  }

 private:
  // The last one that begins at or before the unit, among those that have any.
  __device__ int find_sequence(const BandCall& call, int unit) const {
    int low = sequence_, high = static_cast<int>(call.params.batch);
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (call.first_unit[middle] <= unit ? low : high) = middle;
    }
    return broadcast(low);
  }

  int unit_, end_, sequence_ = 0;
};

}  // namespace swa::sm90
