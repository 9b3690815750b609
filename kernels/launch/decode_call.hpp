// What the portable decode kernel is launched with.
#pragma once

#include "kernels/launch/decode.hpp"
#include "kernels/params.h"

namespace swa {

struct DecodeCall {
  ForwardParams params;
  int row_tiles = 1, splits = 1;  // as in DecodePlan
  unsigned blocks = 0;

  // Of each 16 rows and split, where there are several splits: sums [rows, splits, head_dim_v] and
  // {highest, sum} [rows, splits], in fp32; and how many splits have ended, 0 before and after.
  float* sums = nullptr;
  float* states = nullptr;
  unsigned* ended = nullptr;  // [rows / 16]
};

}  // namespace swa
