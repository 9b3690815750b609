// Which query tile a block of the prefill kernels owns.
#pragma once

#include <cuda_runtime.h>

#include "kernels/launch/prefill_call.hpp"

namespace swa::portable {

struct QueryTile {
  Index index;  // of its sequence
  int first_head;
  CallSequence sequence;
};

// The newest tiles of a head come first: under a causal mask they are the longest.
__device__ inline QueryTile query_tile_of_block(const PrefillCall& call) {
  const unsigned head_groups = static_cast<unsigned>(call.params.heads_q) / call.heads;
  const unsigned above = blockIdx.x / call.query_tiles;
  return {call.query_tiles - 1 - blockIdx.x % call.query_tiles,
          static_cast<int>(above % head_groups) * call.heads,
          sequence_of(call.params, above / head_groups)};
}

}  // namespace swa::portable
