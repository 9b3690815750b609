// What the rows of one warp see of a key tile.
#pragma once

#include <cuda_runtime.h>

#include "kernels/portable/visits.cuh"

namespace swa::portable {

// What all rows of a warp see, and what any of them sees.
struct WarpRows {
  Keys all, any;

  template <int kRows>
  static __device__ WarpRows of(const Keys* bounds, int rows) {
    const int lane = threadIdx.x % 32;
    Keys mine_all{0, INT32_MAX}, mine_any{INT32_MAX, 0};
    if (lane < rows) {
      const Keys row = bounds[lane];
      mine_all = row;
      mine_any = row;
    }
    static_assert(kRows <= 32);
    return {{__reduce_max_sync(~0U, mine_all.begin), __reduce_min_sync(~0U, mine_all.end)},
            {__reduce_min_sync(~0U, mine_any.begin), __reduce_max_sync(~0U, mine_any.end)}};
  }
  // Of a tile of `size` keys from `first`.
  __device__ bool see_some(int first, int size, int sinks) const {
    return first < any.end && (first + size > any.begin || first < sinks);
  }
  __device__ bool see_all(int first, int size) const {
    return first >= all.begin && first + size <= all.end;
  }
};

// Writes -inf into the scores, laid out as ptx/mma.cuh says, where a row does not see the key.
template <int kFragments, int BN>
__device__ void hide(float (&s)[kFragments][BN / 8][4], const Keys* bounds, int sinks,
                     int first_key) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int m = 0; m < kFragments; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Keys row = bounds[m * 16 + half * 8 + lane / 4];
#pragma unroll
      for (int n = 0; n < BN / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int key = first_key + n * 8 + lane % 4 * 2 + i;
          if (!sees_key(row, sinks, key)) s[m][n][2 * half + i] = -INFINITY;
        }
      }
    }
  }
}

}  // namespace swa::portable
