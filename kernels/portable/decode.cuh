// Windowed attention, few queries on many keys: bound by the reading of K and V (sm_80 and later).
//
// A block owns 16 rows, the query heads of one kv head at all positions of the call, and one part
// of the keys that these see. Each warp streams stages of 16 keys through a ring of its own, so
// that no warp waits for another before the end, when the sums of the warps, and then those of the
// parts, are merged. Keys that no row sees are never read: zeros stand for them.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/launch/decode_call.hpp"
#include "kernels/portable/elements.cuh"
#include "kernels/portable/softmax.cuh"
#include "kernels/portable/visits.cuh"
#include "kernels/ptx/copy.cuh"
#include "kernels/ptx/mma.cuh"
#include "kernels/ptx/stopwatch.cuh"

namespace swa::portable {

template <class Element_, int kHeadDim_, int kHeadDimV_, Scores kScores_>
struct Decode {
  using Element = Element_;
  static constexpr DecodeTile kTile = decode_tile(kHeadDim_, kHeadDimV_);
  static constexpr int kHeadDim = kHeadDim_, kHeadDimV = kHeadDimV_;
  static constexpr int kWarps = kTile.warps, kStages = kTile.stages, kThreads = kTile.threads();
  static constexpr int kRows = DecodeTile::kRows, kKeys = DecodeTile::kKeys;
  static constexpr int kKPitch = kTile.k_pitch(), kVPitch = kTile.v_pitch();
  static constexpr int kStageBytes = kTile.stage_bytes();
  static constexpr Scores kScores = kScores_;

  using Weights = float[1][kKeys / 8][4];
  using Sums = float[1][kHeadDimV / 8][4];
  using Queries = ptx::Fragment[kHeadDim / 16][4];

  static __device__ void load_queries(Queries& q, std::uint32_t from) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 0; step < kHeadDim / 16; ++step) {
      ptx::load_matrices(q[step], from + lane % 16 * kKPitch + step * 32 + lane / 16 * 16);
    }
  }

  // S = Q K^T.
  static __device__ void score(Weights& s, const Queries& q, std::uint32_t k) {
    const int lane = threadIdx.x % 32;
    const std::uint32_t from = k + (lane / 16 * 8 + lane % 8) * kKPitch + lane / 8 % 2 * 16;
#pragma unroll
    for (auto& c : s[0]) {
#pragma unroll
      for (float& x : c) x = 0;
    }
#pragma unroll
    for (int step = 0; step < kHeadDim / 16; ++step) {
      ptx::Fragment b[4];
      ptx::load_matrices(b, from + step * 32);
      ptx::multiply_add(s[0][0], q[step], b[0], b[1], Element());
      ptx::multiply_add(s[0][1], q[step], b[2], b[3], Element());
    }
  }

  // O += P V.
  static __device__ void add_values(Sums& o, const Weights& p, std::uint32_t v) {
    const int lane = threadIdx.x % 32;
    const std::uint32_t from = v + lane % 16 * kVPitch + lane / 16 * 16;
    ptx::Fragment a[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float* const pair = &p[0][i / 2][2 * (i % 2)];
      a[i] = ptx::pack(pair[0], pair[1], Element());
    }
#pragma unroll
    for (int n = 0; n < kHeadDimV / 16; ++n) {
      ptx::Fragment b[4];
      ptx::load_matrices_transposed(b, from + n * 32);
      ptx::multiply_add(o[0][2 * n], a, b[0], b[1], Element());
      ptx::multiply_add(o[0][2 * n + 1], a, b[2], b[3], Element());
    }
  }

  // Copies one of K and V of a stage. `at`: of lane l, where key first_key + l lies, l < 16.
  template <int kDim, int kPitch>
  static __device__ void copy_rows(std::uint32_t to, const Element* from, Index at, bool wanted) {
    constexpr int kPieces = kDim / 8;  // of 16 bytes in a row
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < kKeys * kPieces / 32; ++i) {
      const int piece = i * 32 + lane, row = piece / kPieces, column = piece % kPieces;
      const Index row_at = __shfl_sync(~0U, at, row);
      const bool row_wanted = __shfl_sync(~0U, wanted, row);
      ptx::copy_16_bytes(to + row * kPitch + column * 16, from + row_at + column * 8, row_wanted);
    }
  }
};

// The factor of a part's sums where the highest score of all parts is `highest`.
__device__ inline float merge_factor(float part_highest, float highest) {
  return highest == -INFINITY ? 0 : ptx::exp2_fast(part_highest - highest);
}

template <class Config>
__global__ void __launch_bounds__(Config::kThreads)
    decode(const __grid_constant__ DecodeCall call) {
  using Element = typename Config::Element;
  constexpr int kRows = Config::kRows, kKeys = Config::kKeys, kDimV = Config::kHeadDimV;
  const ForwardParams& p = call.params;
  const ptx::Stopwatch stopwatch(p);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;

  const int split = blockIdx.x % call.splits;
  const unsigned item = blockIdx.x / call.splits;  // 16 rows of a kv head of a sequence
  const int first_row = item % call.row_tiles * kRows;
  const unsigned above = item / call.row_tiles;
  const int kv_head = above % p.heads_kv, group = static_cast<int>(p.heads_q / p.heads_kv);
  const Index s = above / p.heads_kv;
  const CallSequence sequence = sequence_of(p, s);
  const Mask& mask = sequence.mask;
  const int rows = min(static_cast<int>(mask.n_q) * group - first_row, kRows);
  if (rows <= 0) return;

  // The parts with keys; where there are none at all, one that writes what such rows get.
  const Visits visits = visits_of(mask, {mask.n_q, kKeys}, 0, TileLoop::window);
  const int parts = max(min(call.splits, visits.count), 1);
  if (split >= parts) return;
  const int begin = static_cast<int>(Index{visits.count} * split / parts);
  const int end = static_cast<int>(Index{visits.count} * (split + 1) / parts);

  extern __shared__ __align__(16) unsigned char memory[];
  Keys* const bounds = reinterpret_cast<Keys*>(memory);
  const std::uint32_t queries = ptx::shared_address(memory) + kRows * sizeof(Keys);
  unsigned char* const rings = memory + kRows * (sizeof(Keys) + Config::kKPitch);
  const auto head_of = [&](int row) { return kv_head * group + (first_row + row) % group; };
  const auto token_of = [&](int row) { return sequence.q_row + (first_row + row) / group; };

  for (int row = thread; row < kRows; row += Config::kThreads) {
    const Index position = (first_row + row) / group;
    bounds[row] = row < rows ? Keys{static_cast<int>(band_begin(mask, position)),
                                    static_cast<int>(band_end(mask, position))}
                             : Keys{0, 0};
  }
  constexpr int kPieces = Config::kHeadDim / 8;
  for (int piece = thread; piece < kRows * kPieces; piece += Config::kThreads) {
    const int row = piece / kPieces, column = piece % kPieces;
    const Element* source = static_cast<const Element*>(p.q);
    if (row < rows) {
      source += offset(p.q_strides, sequence.entry, head_of(row), token_of(row)) + column * 8;
    }
    ptx::copy_16_bytes(queries + row * Config::kKPitch + column * 16, source, row < rows);
  }
  ptx::commit_copies();
  ptx::wait_for_copies<0>();
  __syncthreads();
  typename Config::Queries q;
  Config::load_queries(q, queries);

  const std::uint32_t ring =
      ptx::shared_address(rings) + warp * Config::kStages * Config::kStageBytes;
  const Element* const k = static_cast<const Element*>(p.k) + kv_head * p.k_strides.head;
  const Element* const v = static_cast<const Element*>(p.v) + kv_head * p.v_strides.head;
  const auto copy_stage = [&](int visit, std::uint32_t to) {
    if (visit < end) {
      const int key = visits.tile(visit) * kKeys + lane % kKeys;
      const bool wanted = visits.wants(key);
      const Index k_at = wanted ? key_offset(p, p.k_strides, sequence, s, key) : 0;
      const Index v_at = wanted ? key_offset(p, p.v_strides, sequence, s, key) : 0;
      Config::template copy_rows<Config::kHeadDim, Config::kKPitch>(to, k, k_at, wanted);
      Config::template copy_rows<kDimV, Config::kVPitch>(to + kKeys * Config::kKPitch, v, v_at,
                                                         wanted);
    }
    ptx::commit_copies();
  };

  const int sinks = static_cast<int>(smaller(mask.sinks, mask.n_k));
  Softmax<Config::kScores, Planted::nothing, 1, kKeys> softmax(p);
  typename Config::Sums o = {};
  for (int stage = 0; stage < Config::kStages; ++stage) {
    copy_stage(begin + warp + stage * Config::kWarps, ring + stage * Config::kStageBytes);
  }
  int stage = 0;
  for (int visit = begin + warp; visit < end; visit += Config::kWarps) {
    const std::uint32_t at = ring + stage * Config::kStageBytes;
    ptx::wait_for_copies<Config::kStages - 1>();
    __syncwarp();
    typename Config::Weights w;
    Config::score(w, q, at);
    softmax.prepare(w);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const Keys row = bounds[half * 8 + lane / 4];
#pragma unroll
      for (int n = 0; n < kKeys / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int key = visits.tile(visit) * kKeys + n * 8 + lane % 4 * 2 + i;
          if (!sees_key(row, sinks, key)) w[0][n][2 * half + i] = -INFINITY;
        }
      }
    }
    softmax.template weigh<true>(w);
    softmax.rescale(o);
    Config::add_values(o, w, at + kKeys * Config::kKPitch);
    __syncwarp();
    copy_stage(visit + Config::kStages * Config::kWarps, at);
    stage = stage + 1 == Config::kStages ? 0 : stage + 1;
  }
  ptx::wait_for_copies<0>();
  __syncthreads();

  // The warps' sums [warps, 16, head_dim_v] and states [warps, 16] take the place of the rings.
  float* const sums = reinterpret_cast<float*>(rings);
  RowState* const states = reinterpret_cast<RowState*>(sums + Config::kWarps * kRows * kDimV);
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = half * 8 + lane / 4;
    const RowState state = softmax.row(0, half);
    if (lane % 4 == 0) states[warp * kRows + row] = state;
#pragma unroll
    for (int n = 0; n < kDimV / 8; ++n) {
      float* const to = sums + (warp * kRows + row) * kDimV + n * 8 + lane % 4 * 2;
      to[0] = o[0][n][2 * half];
      to[1] = o[0][n][2 * half + 1];
    }
  }
  __syncthreads();

  const auto write_end = [&](int row, int d, RowState state, float sum) {
    const int head = head_of(row);
    const RowEnd row_end = end_of(state, sink_logit_of(p, head));
    static_cast<Element*>(p.out)[offset(p.out_strides, sequence.entry, head, token_of(row)) + d] =
        static_cast<Element>(sum * row_end.factor);
    if (d == 0 && p.lse != nullptr) {
      static_cast<float*>(p.lse)[offset(p.lse_strides, sequence.entry, head, token_of(row))] =
          row_end.lse;
    }
  };
  const Index part_row = (Index{item} * call.splits + split) * kRows;
  for (int at = thread; at < rows * kDimV; at += Config::kThreads) {
    const int row = at / kDimV, d = at % kDimV;
    RowState all{-INFINITY, 0};
    for (int w = 0; w < Config::kWarps; ++w) {
      all.highest = fmaxf(all.highest, states[w * kRows + row].highest);
    }
    float sum = 0;
    for (int w = 0; w < Config::kWarps; ++w) {
      const RowState part = states[w * kRows + row];
      const float factor = merge_factor(part.highest, all.highest);
      all.sum += part.sum * factor;
      sum += sums[(w * kRows + row) * kDimV + d] * factor;
    }
    if (parts == 1) {
      write_end(row, d, all, sum);
      continue;
    }
    call.sums[(part_row + row) * kDimV + d] = sum;
    if (d == 0) reinterpret_cast<RowState*>(call.states)[part_row + row] = all;
  }
  if (parts == 1) return;

  // The last block of these rows merges the parts, in their order: the result does not depend on
  // who is last.
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (thread == 0) {
    last = atomicAdd(call.ended + item, 1U) == static_cast<unsigned>(parts) - 1;
    if (last) call.ended[item] = 0;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  const RowState* const part_states = reinterpret_cast<const RowState*>(call.states);
  const Index first_part_row = Index{item} * call.splits * kRows;
  for (int at = thread; at < rows * kDimV; at += Config::kThreads) {
    const int row = at / kDimV, d = at % kDimV;
    RowState all{-INFINITY, 0};
    for (int part = 0; part < parts; ++part) {
      all.highest =
          fmaxf(all.highest, __ldcg(&part_states[first_part_row + part * kRows + row].highest));
    }
    float sum = 0;
    for (int part = 0; part < parts; ++part) {
      const Index at_part = first_part_row + part * kRows + row;
      const float factor = merge_factor(__ldcg(&part_states[at_part].highest), all.highest);
      all.sum += __ldcg(&part_states[at_part].sum) * factor;
      sum += __ldcg(call.sums + at_part * kDimV + d) * factor;
    }
    write_end(row, d, all, sum);
  }
}

template <class Tag, int kHeadDim, int kHeadDimV>
cudaError_t launch_decode_of(const DecodeCall& call, Scores scores, cudaStream_t stream) {
  using Element = typename ElementOf<Tag>::type;
  const auto launch = [&]<Scores kScores>() {
    using Config = Decode<Element, kHeadDim, kHeadDimV, kScores>;
    constexpr int kBytes = Config::kTile.smem_bytes();
    const cudaError_t error =
        cudaFuncSetAttribute(decode<Config>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
    if (error != cudaSuccess) return error;
    decode<Config><<<call.blocks, Config::kThreads, kBytes, stream>>>(call);
    return cudaGetLastError();
  };
  return scores == Scores::plain ? launch.template operator()<Scores::plain>()
                                 : launch.template operator()<Scores::general>();
}

}  // namespace swa::portable
