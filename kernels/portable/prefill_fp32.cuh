// Windowed attention on elements of 4 bytes, for any head dims up to 256: the walk of prefill.cuh
// with the products in true fp32 without tensor cores, or in TF32 on them. For checks and for small
// heads: nothing is copied ahead.
//
// A warp owns 16 rows of the query tile of a plan. Scores and outputs lie in its registers as
// ptx/mma.cuh says, in both types.
#pragma once

#include <cuda_runtime.h>

#include "kernels/launch/prefill_call.hpp"
#include "kernels/portable/query_tile.cuh"
#include "kernels/portable/softmax.cuh"
#include "kernels/portable/visits.cuh"
#include "kernels/portable/warp_rows.cuh"
#include "kernels/ptx/mma.cuh"
#include "kernels/ptx/stopwatch.cuh"
#include "tensor/dtype.hpp"

namespace swa::portable {

template <Dtype kDtype, int kDim_>
struct PrefillFp32 {
  static_assert(kDtype == Dtype::fp32 || kDtype == Dtype::tf32);
  static constexpr int kDim = kDim_;
  static constexpr Fp32Tile kTile = fp32_tile(kDim);
  static constexpr int BM = kTile.BM, BN = kTile.BN, kPitch = kTile.pitch();
  static constexpr int kThreads = kTile.threads();
  static constexpr int kBlocks = kDim / 8;  // of 8 output elements

  using Weights = float[1][BN / 8][4];
  using Sums = float[1][kBlocks][4];

  // As a factor of a product.
  static __device__ float factor(float x) {
    return kDtype == Dtype::tf32 ? ptx::round_to_tf32(x) : x;
  }

  // S = Q K^T for the rows of a warp.
  static __device__ void score(Weights& s, const float* q_rows, const float* k) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    for (auto& block : s[0]) {
      for (float& x : block) x = 0;
    }
    if constexpr (kDtype == Dtype::tf32) {
      for (int d = 0; d < kDim; d += 8) {
        const float* const q = q_rows + g * kPitch + d + t;
        const float a[4] = {q[0], q[8 * kPitch], q[4], q[8 * kPitch + 4]};
#pragma unroll
        for (int n = 0; n < BN / 8; ++n) {
          const float* const b = k + (n * 8 + g) * kPitch + d + t;
          ptx::multiply_add_tf32(s[0][n], a, b[0], b[4]);
        }
      }
    } else {
      const auto four = [](const float* from) { return *reinterpret_cast<const float4*>(from); };
      const auto add = [](float& sum, float4 a, float4 b) {
        sum = fmaf(a.w, b.w, fmaf(a.z, b.z, fmaf(a.y, b.y, fmaf(a.x, b.x, sum))));
      };
      for (int d = 0; d < kDim; d += 4) {
        const float4 q0 = four(q_rows + g * kPitch + d), q1 = four(q_rows + (g + 8) * kPitch + d);
#pragma unroll
        for (int n = 0; n < BN / 8; ++n) {
          const float* const b = k + (n * 8 + 2 * t) * kPitch + d;
          const float4 k0 = four(b), k1 = four(b + kPitch);
          add(s[0][n][0], q0, k0);
          add(s[0][n][1], q0, k1);
          add(s[0][n][2], q1, k0);
          add(s[0][n][3], q1, k1);
        }
      }
    }
  }

  // O += P V. What a tile adds is summed apart: one sum over all keys would lose digits.
  static __device__ void add_values(Sums& o, const Weights& p, const float* v) {
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    if constexpr (kDtype == Dtype::tf32) {
      // The product wants columns t and t + 4 of the weights where a lane has 2t and 2t + 1. In
      // which order it takes the 8 keys is free, so V's rows are read in that of the weights.
#pragma unroll
      for (int n = 0; n < kBlocks; ++n) {
        float sum[4] = {0, 0, 0, 0};
#pragma unroll
        for (int step = 0; step < BN / 8; ++step) {
          const float(&w)[4] = p[0][step];
          const float a[4] = {factor(w[0]), factor(w[2]), factor(w[1]), factor(w[3])};
          const float* const b = v + (step * 8 + 2 * t) * kPitch + n * 8 + g;
          ptx::multiply_add_tf32(sum, a, b[0], b[kPitch]);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) o[0][n][i] += sum[i];
      }
    } else {
      constexpr int kAtOnce = 4;
      static_assert(kBlocks % kAtOnce == 0);
#pragma unroll
      for (int first = 0; first < kBlocks; first += kAtOnce) {
        float sum[kAtOnce][4] = {};
#pragma unroll
        for (int key = 0; key < BN; ++key) {
          const int owner = lane / 4 * 4 + key % 8 / 2;
          const float w0 = __shfl_sync(~0U, p[0][key / 8][key % 2], owner);
          const float w1 = __shfl_sync(~0U, p[0][key / 8][2 + key % 2], owner);
          const float* const row = v + key * kPitch + first * 8 + 2 * t;
#pragma unroll
          for (int n = 0; n < kAtOnce; ++n) {
            const float2 b = *reinterpret_cast<const float2*>(row + n * 8);
            sum[n][0] = fmaf(w0, b.x, sum[n][0]);
            sum[n][1] = fmaf(w0, b.y, sum[n][1]);
            sum[n][2] = fmaf(w1, b.x, sum[n][2]);
            sum[n][3] = fmaf(w1, b.y, sum[n][3]);
          }
        }
#pragma unroll
        for (int n = 0; n < kAtOnce; ++n) {
#pragma unroll
          for (int i = 0; i < 4; ++i) o[0][first + n][i] += sum[n][i];
        }
      }
    }
  }
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads)
    prefill_fp32(const __grid_constant__ PrefillCall call, TileLoop loop) {
  constexpr int BM = Config::BM, BN = Config::BN, kPitch = Config::kPitch, kDim = Config::kDim;
  const ForwardParams& p = call.params;
  const ptx::Stopwatch stopwatch(p);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;

  const QueryTile own = query_tile_of_block(call);
  const Index query_tile = own.index;
  const int first_head = own.first_head;
  const CallSequence& sequence = own.sequence;
  const Mask& mask = sequence.mask;
  const TileShape shape{call.positions, BN};
  if (query_tile * shape.BM >= mask.n_q) return;
  const KeyRange positions = rows_of_tile(mask, shape, query_tile);
  const int rows = static_cast<int>(positions.size()) * call.heads;  // of the tile; the rest idle
  const Visits visits = visits_of(mask, shape, query_tile, loop);
  const auto token_of = [&](int row) {
    return sequence.q_row + positions.begin + row / call.heads;
  };
  const auto head_of = [&](int row) { return first_head + row % call.heads; };

  extern __shared__ __align__(16) float floats[];
  float* const q = floats;                                        // [BM, kPitch]
  float* const k = q + BM * kPitch;                               // [BN, kPitch]
  float* const v = k + BN * kPitch;                               // [BN, kPitch]
  Keys* const bounds = reinterpret_cast<Keys*>(v + BN * kPitch);  // [BM]
  const int dim = static_cast<int>(p.head_dim), dim_v = static_cast<int>(p.head_dim_v);
  for (int at = thread; at < BM * kDim; at += Config::kThreads) {
    const int row = at / kDim, d = at % kDim;
    float element = 0;
    if (row < rows && d < dim) {
      element = static_cast<const float*>(
          p.q)[offset(p.q_strides, sequence.entry, head_of(row), token_of(row)) + d];
    }
    q[row * kPitch + d] = Config::factor(element);
  }
  for (int row = thread; row < BM; row += Config::kThreads) {
    const Index position = positions.begin + row / call.heads;
    bounds[row] = row < rows ? Keys{static_cast<int>(band_begin(mask, position)),
                                    static_cast<int>(band_end(mask, position))}
                             : Keys{0, 0};
  }
  __syncthreads();

  const Index kv_head = first_head / (p.heads_q / p.heads_kv);
  const float* const k_from =
      static_cast<const float*>(p.k) + offset(p.k_strides, sequence.entry, kv_head, sequence.k_row);
  const float* const v_from =
      static_cast<const float*>(p.v) + offset(p.v_strides, sequence.entry, kv_head, sequence.k_row);
  const Keys* const warp_bounds = bounds + warp * 16;
  const WarpRows seen = WarpRows::of<16>(warp_bounds, min(max(rows - warp * 16, 0), 16));
  const int sinks = static_cast<int>(smaller(mask.sinks, mask.n_k));

  Softmax<Scores::general, Planted::nothing, 1, BN> softmax(p);
  typename Config::Sums o = {};
  for (int visit = 0; visit < visits.count; ++visit) {
    const int first_key = visits.tile(visit) * BN;
    __syncthreads();
    for (int at = thread; at < BN * kDim; at += Config::kThreads) {
      const int row = at / kDim, d = at % kDim;
      const Index key = first_key + row;
      const bool wanted = visits.wants(first_key + row);
      k[row * kPitch + d] =
          Config::factor(wanted && d < dim ? k_from[key * p.k_strides.token + d] : 0);
      v[row * kPitch + d] =
          Config::factor(wanted && d < dim_v ? v_from[key * p.v_strides.token + d] : 0);
    }
    __syncthreads();
    if (loop == TileLoop::window && !seen.see_some(first_key, BN, sinks)) continue;
    typename Config::Weights s;
    Config::score(s, q + warp * 16 * kPitch, k);
    softmax.prepare(s);
    hide<1, BN>(s, warp_bounds, sinks, first_key);
    softmax.template weigh<true>(s);
    softmax.rescale(o);
    Config::add_values(o, s, v);
  }

#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = warp * 16 + half * 8 + lane / 4;
    const bool exists = row < rows;
    const int head = head_of(exists ? row : 0);
    const RowEnd end = end_of(softmax.row(0, half), sink_logit_of(p, head));
    if (!exists) continue;
    float* const out =
        static_cast<float*>(p.out) + offset(p.out_strides, sequence.entry, head, token_of(row));
#pragma unroll
    for (int n = 0; n < Config::kBlocks; ++n) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int d = n * 8 + lane % 4 * 2 + i;
        if (d < dim_v) out[d] = o[0][n][2 * half + i] * end.factor;
      }
    }
    if (lane % 4 == 0 && p.lse != nullptr) {
      static_cast<float*>(p.lse)[offset(p.lse_strides, sequence.entry, head, token_of(row))] =
          end.lse;
    }
  }
}

template <Dtype kDtype, int kDim>
cudaError_t launch_fp32_of(const PrefillCall& call, TileLoop loop, cudaStream_t stream) {
  using Config = PrefillFp32<kDtype, kDim>;
  constexpr int kBytes = Config::kTile.smem_bytes();
  const cudaError_t error = cudaFuncSetAttribute(
      prefill_fp32<Config>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (error != cudaSuccess) return error;
  prefill_fp32<Config><<<call.blocks, Config::kThreads, kBytes, stream>>>(call, loop);
  return cudaGetLastError();
}

}  // namespace swa::portable
