// Windowed attention in true fp32, for any head dims up to 256: the walk of prefill.cuh without
// tensor cores, which would narrow the operands. For checks and for small heads; not for speed.
//
// A block of 16 x 16 threads owns the query tile of a plan. Thread (y, x) computes the scores of
// the rows y R .. y R + R - 1 and the keys x, x + 16, .., and of these rows the output elements x,
// x + 16, ..: the threads of a row are half a warp.
#pragma once

#include <cuda_runtime.h>

#include "kernels/launch/prefill_call.hpp"
#include "kernels/portable/softmax.cuh"
#include "kernels/portable/visits.cuh"

namespace swa::portable {

template <int kDim>
struct Fp32 {
  static constexpr Fp32Tile kTile = fp32_tile(kDim);
  static constexpr int BM = kTile.BM, BN = kTile.BN, kSide = Fp32Tile::kSide;
  static constexpr int R = BM / kSide, C = BN / kSide, E = kDim / kSide;
  static constexpr int kPitch = kDim + Fp32Tile::kPad;
};

template <class Combine>
__device__ float over_row(float x, Combine combine) {
  for (int step = 8; step > 0; step /= 2) x = combine(x, __shfl_xor_sync(~0U, x, step));
  return x;
}

template <int kDim>
__global__ void __launch_bounds__(Fp32Tile::kThreads)
    prefill_fp32(const __grid_constant__ PrefillCall call, Walk walk) {
  using Config = Fp32<kDim>;
  constexpr int BM = Config::BM, BN = Config::BN, kSide = Config::kSide, kPitch = Config::kPitch;
  const ForwardParams& p = call.params;
  const int thread = static_cast<int>(threadIdx.x), x = thread % kSide, y = thread / kSide;

  const unsigned head_groups = static_cast<unsigned>(p.heads_q) / call.heads;
  const unsigned above = blockIdx.x / call.query_tiles;
  const Index query_tile = call.query_tiles - 1 - blockIdx.x % call.query_tiles;
  const int first_head = static_cast<int>(above % head_groups) * call.heads;
  const CallSequence sequence = sequence_of(p, above / head_groups);
  const Mask& mask = sequence.mask;
  const TileShape shape{call.positions, BN};
  if (query_tile * shape.BM >= mask.n_q) return;
  const KeyRange positions = rows_of_tile(mask, shape, query_tile);
  const int rows = static_cast<int>(positions.size()) * call.heads;
  const Visits visits = visits_of(mask, shape, query_tile, walk);
  const int sinks = static_cast<int>(smaller(mask.sinks, mask.n_k));
  const auto token_of = [&](int row) {
    return sequence.q_row + positions.begin + row / call.heads;
  };
  const auto head_of = [&](int row) { return first_head + row % call.heads; };

  extern __shared__ float floats[];
  float* const q = floats;
  float* const k = q + BM * kPitch;
  float* const v = k + BN * kPitch;
  float* const weights = v + BN * kDim;  // [BM, BN + 1]
  const int dim = static_cast<int>(p.head_dim), dim_v = static_cast<int>(p.head_dim_v);
  for (int at = thread; at < BM * kDim; at += Fp32Tile::kThreads) {
    const int row = at / kDim, d = at % kDim;
    q[row * kPitch + d] =
        row < rows && d < dim
            ? static_cast<const float*>(
                  p.q)[offset(p.q_strides, sequence.entry, head_of(row), token_of(row)) + d]
            : 0;
  }
  const Index kv_head = first_head / (p.heads_q / p.heads_kv);
  const float* const k_from =
      static_cast<const float*>(p.k) + offset(p.k_strides, sequence.entry, kv_head, sequence.k_row);
  const float* const v_from =
      static_cast<const float*>(p.v) + offset(p.v_strides, sequence.entry, kv_head, sequence.k_row);

  Keys seen[Config::R];
  for (int i = 0; i < Config::R; ++i) {
    const int row = y * Config::R + i;
    const Index position = positions.begin + row / call.heads;
    seen[i] = row < rows ? Keys{static_cast<int>(band_begin(mask, position)),
                                static_cast<int>(band_end(mask, position))}
                         : Keys{0, 0};
  }
  const float scale = static_cast<float>(p.scale), cap = static_cast<float>(p.softcap);
  float o[Config::R][Config::E] = {};
  float highest[Config::R], sum[Config::R] = {};
  for (float& h : highest) h = -INFINITY;

  for (int visit = 0; visit < visits.count; ++visit) {
    const int first_key = visits.tile(visit) * BN;
    __syncthreads();
    for (int at = thread; at < BN * kDim; at += Fp32Tile::kThreads) {
      const int row = at / kDim, d = at % kDim;
      const bool wanted = visits.wants(first_key + row);
      const Index key = first_key + row;
      k[row * kPitch + d] = wanted && d < dim ? k_from[key * p.k_strides.token + d] : 0;
      v[row * kDim + d] = wanted && d < dim_v ? v_from[key * p.v_strides.token + d] : 0;
    }
    __syncthreads();

    float s[Config::R][Config::C] = {};
    for (int d = 0; d < dim; ++d) {
#pragma unroll
      for (int i = 0; i < Config::R; ++i) {
#pragma unroll
        for (int j = 0; j < Config::C; ++j) {
          s[i][j] += q[(y * Config::R + i) * kPitch + d] * k[(x + j * kSide) * kPitch + d];
        }
      }
    }
#pragma unroll
    for (int i = 0; i < Config::R; ++i) {
      float top = highest[i];
#pragma unroll
      for (int j = 0; j < Config::C; ++j) {
        float score = s[i][j] * scale;
        if (cap > 0) score = cap * tanhf(score / cap);
        const bool sees = sees_key(seen[i], sinks, first_key + x + j * kSide);
        s[i][j] = sees ? score * kLog2E : -INFINITY;
        top = fmaxf(top, s[i][j]);
      }
      top = over_row(top, [](float a, float b) { return fmaxf(a, b); });
      const float shift = top == -INFINITY ? 0 : top;
      const float rescale = ptx::exp2_fast(highest[i] - shift);
      highest[i] = top;
      float of_thread = 0;
#pragma unroll
      for (int j = 0; j < Config::C; ++j) {
        const float weight = ptx::exp2_fast(s[i][j] - shift);
        of_thread += weight;
        weights[(y * Config::R + i) * (BN + 1) + x + j * kSide] = weight;
      }
      sum[i] = sum[i] * rescale + over_row(of_thread, [](float a, float b) { return a + b; });
#pragma unroll
      for (float& element : o[i]) element *= rescale;
    }
    __syncwarp();                              // the weights of a row stay in its half of a warp
    float of_tile[Config::R][Config::E] = {};  // apart: a sum over all keys would lose digits
    for (int key = 0; key < BN; ++key) {
#pragma unroll
      for (int i = 0; i < Config::R; ++i) {
        const float weight = weights[(y * Config::R + i) * (BN + 1) + key];
#pragma unroll
        for (int e = 0; e < Config::E; ++e) {
          of_tile[i][e] += weight * v[key * kDim + x + e * kSide];
        }
      }
    }
#pragma unroll
    for (int i = 0; i < Config::R; ++i) {
#pragma unroll
      for (int e = 0; e < Config::E; ++e) o[i][e] += of_tile[i][e];
    }
  }

  for (int i = 0; i < Config::R; ++i) {
    const int row = y * Config::R + i;
    if (row >= rows) continue;
    const int head = head_of(row);
    const RowEnd end = end_of({highest[i], sum[i]}, sink_logit_of(p, head));
    float* const out =
        static_cast<float*>(p.out) + offset(p.out_strides, sequence.entry, head, token_of(row));
    for (int e = 0; e < Config::E; ++e) {
      if (x + e * kSide < dim_v) out[x + e * kSide] = o[i][e] * end.factor;
    }
    if (x == 0 && p.lse != nullptr) {
      static_cast<float*>(p.lse)[offset(p.lse_strides, sequence.entry, head, token_of(row))] =
          end.lse;
    }
  }
}

}  // namespace swa::portable
