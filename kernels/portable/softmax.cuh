// The online softmax of a warp's rows, in registers laid out as ptx/mma.cuh says.
#pragma once

#include "kernels/launch/prefill_call.hpp"
#include "kernels/ptx/mma.cuh"

namespace swa::portable {

inline constexpr float kLog2E = 1.4426950408889634F, kLn2 = 0.6931471805599453F;

// What a row has had so far: its highest score, in units of log2, and the sum of its weights
// relative to that. -inf and 0 where it has seen no key.
struct RowState {
  float highest, sum;
};

// What is left to do with a row: the factor of its outputs, and the log of its denominator.
struct RowEnd {
  float factor, lse;
};

// With the row's sink logit; -inf: none. A row without either gets 0 and -inf.
template <Planted kPlanted = Planted::nothing>
__device__ inline RowEnd end_of(RowState row, float sink_logit) {
  const float sink = sink_logit * kLog2E, top = fmaxf(row.highest, sink);
  // Without the guard the sum of a row is NaN where it met only tiles that it does not see.
  const bool empty = top == -INFINITY && (kPlanted != Planted::no_guard || row.sum == 0);
  if (empty) return {0, -INFINITY};
  const float weight = ptx::exp2_fast(row.highest - top);
  const float denominator = row.sum * weight + ptx::exp2_fast(sink - top);
  return {weight / denominator, top * kLn2 + logf(denominator)};
}

__device__ inline float sink_logit_of(const ForwardParams& p, int head) {
  return p.sink_logits == nullptr ? -INFINITY : static_cast<const float*>(p.sink_logits)[head];
}

// Plain scores stay as the product leaves them, and scale and log2(e) go into the exponential's one
// multiply-add. General ones are scaled and capped first, whatever the sign of the scale.
template <Scores kScores, Planted kPlanted, int kFragments, int BN>
class Softmax {
 public:
  using Weights = float[kFragments][BN / 8][4];

  __device__ explicit Softmax(const ForwardParams& p)
      : scale_(static_cast<float>(p.scale)), cap_(static_cast<float>(p.softcap)) {
#pragma unroll
    for (int m = 0; m < kFragments; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        highest_[m][half] = -INFINITY;
        sum_[m][half] = 0;
      }
    }
  }

  // Scores in units of log2, where they are not plain.
  __device__ void prepare(Weights& s) const {
    if constexpr (kScores == Scores::general) {
#pragma unroll
      for (int m = 0; m < kFragments; ++m) {
#pragma unroll
        for (int n = 0; n < BN / 8; ++n) {
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            float x = s[m][n][i] * scale_;
            if (cap_ > 0) x = cap_ * tanhf(x / cap_);
            s[m][n][i] = x * kLog2E;
          }
        }
      }
    }
  }

  // Scores become weights relative to the row's maximum so far; the outputs have yet to be rescaled
  // to it. kMasked: some scores are -inf, perhaps all that a row has had so far. Without the guard
  // such a row would subtract -inf from -inf.
  template <bool kMasked>
  __device__ void weigh(Weights& s) {
    const float factor = kScores == Scores::plain ? scale_ * kLog2E : 1;
    float shift[kFragments][2];
#pragma unroll
    for (int m = 0; m < kFragments; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float highest = fmaxf(highest_[m][half], highest_of(s[m], half));
        // Rounded as it was for the maximum before, so that a maximum which stays rescales by
        // exactly 1: over hundreds of tiles the roundings of a fused product would add up.
        const float before = __fmul_rn(highest_[m][half], factor);
        shift[m][half] = __fmul_rn(highest, factor);
        if (kMasked && kPlanted != Planted::no_guard && highest == -INFINITY) shift[m][half] = 0;
        rescale_[m][half] = ptx::exp2_fast(before - shift[m][half]);
        highest_[m][half] = highest;
      }
    }
#pragma unroll
    for (int m = 0; m < kFragments; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float sums[2] = {0, 0};  // side by side: a single one would wait for itself
#pragma unroll
        for (int n = 0; n < BN / 8; ++n) {
#pragma unroll
          for (int i = 0; i < 2; ++i) {
            float& x = s[m][n][2 * half + i];
            x = ptx::exp2_fast(fmaf(x, factor, -shift[m][half]));
            sums[i] += x;
          }
        }
        sum_[m][half] = sum_[m][half] * rescale_[m][half] + (sums[0] + sums[1]);
      }
    }
  }

  // Whether some row of the warp has a new maximum.
  __device__ bool any_rescale() const {
    bool any = false;
#pragma unroll
    for (int m = 0; m < kFragments; ++m) any |= rescale_[m][0] != 1 || rescale_[m][1] != 1;
    return __any_sync(~0U, any);
  }

  // The outputs so far, to the maximum of the last weigh().
  template <class Sums>
  __device__ void rescale(Sums& o) const {
#pragma unroll
    for (int m = 0; m < kFragments; ++m) {
#pragma unroll
      for (auto& c : o[m]) {
#pragma unroll
        for (int i = 0; i < 4; ++i) c[i] *= rescale_[m][i / 2];
      }
    }
  }

  // Of one row. All lanes of its four ask together.
  __device__ RowState row(int fragment, int half) const {
    float sum = sum_[fragment][half];
    sum += __shfl_xor_sync(~0U, sum, 1);
    sum += __shfl_xor_sync(~0U, sum, 2);
    return {highest_[fragment][half] * (kScores == Scores::plain ? scale_ * kLog2E : 1), sum};
  }

 private:
  // Over the four lanes of a row.
  static __device__ float highest_of(const float (&s)[BN / 8][4], int half) {
    float highest[2] = {s[0][2 * half], s[0][2 * half + 1]};
#pragma unroll
    for (int n = 1; n < BN / 8; ++n) {
#pragma unroll
      for (int i = 0; i < 2; ++i) highest[i] = fmaxf(highest[i], s[n][2 * half + i]);
    }
    float of_lane = fmaxf(highest[0], highest[1]);
    of_lane = fmaxf(of_lane, __shfl_xor_sync(~0U, of_lane, 1));
    return fmaxf(of_lane, __shfl_xor_sync(~0U, of_lane, 2));
  }

  float scale_, cap_;
  // Of each row: in units of the scores; the sum is this lane's share.
  float highest_[kFragments][2], sum_[kFragments][2];
  float rescale_[kFragments][2];  // by the last tile
};

}  // namespace swa::portable
