// What the band kernel is launched with.
#pragma once

#include <cuda.h>

#include "kernels/params.h"

namespace swa::sm90 {

struct BandMaps {
  CUtensorMap q, k, v, out;
};

struct BandCall {
  ForwardParams params;
  // As in BandPlan.
  int heads = 1, head_bits = 0;  // a power of two, and which
  int group = 1;                 // query heads of a kv head
  int positions = 64, head_groups = 1, passes = 1, slots = 0, query_stages = 1;
  int history = 0, rounds = 0, units = 0;
  int tokens_k = 0;                 // of a batch entry of k and v
  const int* first_unit = nullptr;  // null: all sequences have `rounds`
  unsigned blocks = 0;
};

}  // namespace swa::sm90
