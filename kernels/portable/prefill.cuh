// Windowed attention, many queries: a tiled online softmax on the tensor cores of sm_80 and later.
//
// A block owns the query tile of a plan (launch/prefill.hpp) and walks over its key tiles from the
// oldest to the newest, sink tokens first. K and V take turns in a ring of slots. With four of them
// K and V of the next tile are under way while this tile is computed on: one barrier a tile. With
// three it is the next V and then the next K: half the memory in flight, two barriers. A warp
// owns 16 or 32 rows. It leaves out tiles that none of its rows sees, and masks only those that
// some row does not see in full. Keys that no row of the tile sees are never read: zeros stand for
// them.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "kernels/launch/prefill_call.hpp"
#include "kernels/portable/elements.cuh"
#include "kernels/portable/plant.cuh"
#include "kernels/portable/query_tile.cuh"
#include "kernels/portable/softmax.cuh"
#include "kernels/portable/visits.cuh"
#include "kernels/portable/warp_rows.cuh"
#include "kernels/ptx/copy.cuh"
#include "kernels/ptx/mma.cuh"
#include "kernels/ptx/stopwatch.cuh"

namespace swa::portable {

template <class Element_, int kHeadDim_, int kHeadDimV_, Scores kScores_, TileLoop kLoop_,
          Planted kPlanted_>
struct Prefill {
  using Element = Element_;
  static constexpr PrefillTile kTile = prefill_tile(kHeadDim_, kHeadDimV_);
  static constexpr int kHeadDim = kHeadDim_, kHeadDimV = kHeadDimV_;
  static constexpr int BM = kTile.BM, BN = kTile.BN;
  static constexpr int kThreads = kTile.threads(), kFragments = kTile.fragments();
  static constexpr int kRows = 16 * kFragments;     // of a warp
  static constexpr int kPitch = kTile.pitch() * 2;  // bytes of a row in shared memory
  static constexpr int kSlotBytes = BN * kPitch;
  static constexpr Scores kScores = kScores_;
  static constexpr TileLoop kLoop = kLoop_;
  static constexpr Planted kPlanted = kPlanted_;
  static constexpr bool kFused = kTile.slots == 4;
  // Registers hold Q where there is room for it.
  static constexpr bool kHoldsQ = kHeadDim <= 64;

  using Weights = float[kFragments][BN / 8][4];
  using Sums = float[kFragments][kHeadDimV / 8][4];
  using Queries = ptx::Fragment[kFragments][kHoldsQ ? kHeadDim / 16 : 1][4];

  // Copies the wanted keys of a tile into a slot; zeros for the others. One group of copies.
  template <int kDim>
  static __device__ void copy_tile(std::uint32_t slot, const Element* from, Index token_stride,
                                   int first_key, const Visits& visits) {
    constexpr int kPieces = kDim / 8;  // of 16 bytes in a row
    constexpr int kRowsAtOnce = kThreads / kPieces;
    const int thread = static_cast<int>(threadIdx.x), column = thread % kPieces * 8;
    int row = thread / kPieces;
    if (kThreads % kPieces != 0 && row == kRowsAtOnce) return;
    // Steps instead of products: an address for each row would take many registers.
    const Element* source = from + (first_key + row) * token_stride + column;
    std::uint32_t to = slot + row * kPitch + column * 2;
    const bool whole = visits.want_all(first_key, BN);
#pragma unroll
    for (int i = 0; i < (BN + kRowsAtOnce - 1) / kRowsAtOnce; ++i) {
      if (BN % kRowsAtOnce != 0 && row >= BN) break;
      ptx::copy_16_bytes(to, source, whole || visits.wants(first_key + row));
      row += kRowsAtOnce;
      source += kRowsAtOnce * token_stride;
      to += kRowsAtOnce * kPitch;
    }
  }

  static __device__ void load_queries(ptx::Fragment (&a)[4], std::uint32_t q_rows, int fragment,
                                      int step) {
    const int lane = threadIdx.x % 32;
    const int row = fragment * 16 + lane % 16;
    ptx::load_matrices(a, q_rows + row * kPitch + step * 32 + (lane / 16) * 16);
  }

  // S = Q K^T for the rows of a warp.
  static __device__ void score(Weights& s, const Queries& held, std::uint32_t q_rows,
                               std::uint32_t slot) {
    const int lane = threadIdx.x % 32;
    const std::uint32_t from = slot + ((lane / 16) * 8 + lane % 8) * kPitch + (lane / 8 % 2) * 16;
#pragma unroll
    for (int m = 0; m < kFragments; ++m) {
#pragma unroll
      for (int n = 0; n < BN / 8; ++n) {
#pragma unroll
        for (int i = 0; i < 4; ++i) s[m][n][i] = 0;
      }
    }
    // Fragments are loaded one product ahead, so that the products do not wait for them.
    constexpr int kSteps = kHeadDim / 16, kBlocks = BN / 16;
    static_assert(kBlocks % 2 == 0, "the buffers of K take turns");
    ptx::Fragment q[2][kFragments][4], k[2][4];
    const auto load_q = [&](int step) {
#pragma unroll
      for (int m = 0; m < kFragments; ++m) {
        if constexpr (kHoldsQ) {
#pragma unroll
          for (int i = 0; i < 4; ++i) q[step % 2][m][i] = held[m][step][i];
        } else {
          load_queries(q[step % 2][m], q_rows, m, step);
        }
      }
    };
    const auto load_k = [&](int step, int n) {
      ptx::load_matrices(k[n % 2], from + n * 16 * kPitch + step * 32);
    };
    load_q(0);
    load_k(0, 0);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int n = 0; n < kBlocks; ++n) {
        if (n + 1 < kBlocks) {
          load_k(step, n + 1);
        } else if (step + 1 < kSteps) {
          load_k(step + 1, 0);
        }
        if (n == 0 && step + 1 < kSteps) load_q(step + 1);
#pragma unroll
        for (int m = 0; m < kFragments; ++m) {
          ptx::multiply_add(s[m][2 * n], q[step % 2][m], k[n % 2][0], k[n % 2][1], Element());
          ptx::multiply_add(s[m][2 * n + 1], q[step % 2][m], k[n % 2][2], k[n % 2][3], Element());
        }
      }
    }
  }

  // O += P V.
  static __device__ void add_values(Sums& o, const Weights& p, std::uint32_t slot) {
    const int lane = threadIdx.x % 32;
    const std::uint32_t from = slot + ((lane / 8 % 2) * 8 + lane % 8) * kPitch + (lane / 16) * 16;
    constexpr int kSteps = BN / 16, kBlocks = kHeadDimV / 16;
    ptx::Fragment a[kFragments][4], v[2][4];
    const auto load_v = [&](int step, int n) {
      ptx::load_matrices_transposed(v[(step * kBlocks + n) % 2],
                                    from + step * 16 * kPitch + n * 32);
    };
    load_v(0, 0);
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int m = 0; m < kFragments; ++m) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const float* const pair = &p[m][2 * step + i / 2][2 * (i % 2)];
          a[m][i] = ptx::pack(pair[0], pair[1], Element());
        }
      }
#pragma unroll
      for (int n = 0; n < kBlocks; ++n) {
        if (n + 1 < kBlocks) {
          load_v(step, n + 1);
        } else if (step + 1 < kSteps) {
          load_v(step + 1, 0);
        }
        const ptx::Fragment(&b)[4] = v[(step * kBlocks + n) % 2];
#pragma unroll
        for (int m = 0; m < kFragments; ++m) {
          ptx::multiply_add(o[m][2 * n], a[m], b[0], b[1], Element());
          ptx::multiply_add(o[m][2 * n + 1], a[m], b[2], b[3], Element());
        }
      }
    }
  }
};

template <class Config>
__global__ void __launch_bounds__(Config::kThreads, Config::kTile.blocks)
    prefill(const __grid_constant__ PrefillCall call) {
  using Element = typename Config::Element;
  constexpr int BM = Config::BM, BN = Config::BN, kPitch = Config::kPitch;
  constexpr int kFragments = Config::kFragments, kRows = Config::kRows;
  const ForwardParams& p = call.params;
  const ptx::Stopwatch stopwatch(p);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;

  QueryTile own = query_tile_of_block(call);
  const Index query_tile = own.index;
  const int first_head = own.first_head;
  CallSequence& sequence = own.sequence;
  plant<Config::kPlanted>(sequence.mask);
  const Mask& mask = sequence.mask;
  const TileShape shape{call.positions, BN};
  if (query_tile * shape.BM >= mask.n_q) return;
  const KeyRange positions = rows_of_tile(mask, shape, query_tile);
  const int rows = static_cast<int>(positions.size()) * call.heads;  // of the tile; the rest idle
  Visits visits = visits_of(mask, shape, query_tile, Config::kLoop);
  plant<Config::kPlanted>(visits, BN);

  extern __shared__ __align__(16) unsigned char memory[];
  Keys* const bounds = reinterpret_cast<Keys*>(memory);
  const std::uint32_t queries = ptx::shared_address(memory) + BM * sizeof(Keys);
  const std::uint32_t slots = queries + BM * kPitch;

  const Index kv_head = first_head / (p.heads_q / p.heads_kv);
  const Element* const k = static_cast<const Element*>(p.k) +
                           offset(p.k_strides, sequence.entry, kv_head, sequence.k_row);
  const Element* const v = static_cast<const Element*>(p.v) +
                           offset(p.v_strides, sequence.entry, kv_head, sequence.k_row);
  const auto copy_k = [&](int visit, std::uint32_t slot) {
    if (visit < visits.count) {
      Config::template copy_tile<Config::kHeadDim>(slot, k, p.k_strides.token,
                                                   visits.tile(visit) * BN, visits);
    }
    ptx::commit_copies();
  };
  const auto copy_v = [&](int visit, std::uint32_t slot) {
    if (visit < visits.count) {
      Config::template copy_tile<Config::kHeadDimV>(slot, v, p.v_strides.token,
                                                    visits.tile(visit) * BN, visits);
    }
    ptx::commit_copies();
  };
  const auto token_of = [&](int row) {
    return sequence.q_row + positions.begin + row / call.heads;
  };
  const auto head_of = [&](int row) { return first_head + row % call.heads; };

  {
    constexpr int kPieces = Config::kHeadDim / 8;
    const Element* const q = static_cast<const Element*>(p.q);
    for (int piece = thread; piece < BM * kPieces; piece += Config::kThreads) {
      const int row = piece / kPieces, column = piece % kPieces;
      const bool wanted = row < rows;
      const Element* source = q;
      if (wanted) {
        source += offset(p.q_strides, sequence.entry, head_of(row), token_of(row)) + column * 8;
      }
      ptx::copy_16_bytes(queries + row * kPitch + column * 16, source, wanted);
    }
  }
  copy_k(0, slots);
  copy_v(0, slots + Config::kSlotBytes);
  for (int row = thread; row < BM; row += Config::kThreads) {
    const Index position = positions.begin + row / call.heads;
    bounds[row] = row < rows ? Keys{static_cast<int>(band_begin(mask, position)),
                                    static_cast<int>(band_end(mask, position))}
                             : Keys{0, 0};
    plant<Config::kPlanted>(bounds[row], band_begin(mask, positions.begin), BN);
  }
  ptx::wait_for_copies<1>();
  __syncthreads();

  const Keys* const warp_bounds = bounds + warp * kRows;
  const int warp_row_count = min(max(rows - warp * kRows, 0), kRows);
  const WarpRows seen = WarpRows::of<kRows>(warp_bounds, warp_row_count);
  const int sinks = static_cast<int>(smaller(mask.sinks, mask.n_k));
  const std::uint32_t q_rows = queries + warp * kRows * kPitch;
  typename Config::Queries held;
  if constexpr (Config::kHoldsQ) {
#pragma unroll
    for (int m = 0; m < kFragments; ++m) {
#pragma unroll
      for (int step = 0; step < Config::kHeadDim / 16; ++step) {
        Config::load_queries(held[m][step], q_rows, m, step);
      }
    }
  }

  Softmax<Config::kScores, Config::kPlanted, kFragments, BN> softmax(p);
  typename Config::Sums o = {};
  std::uint32_t slot = slots;  // of this visit's K; V and the next K follow in the ring
  const auto next = [&](std::uint32_t s) {
    return s + Config::kSlotBytes == slots + Config::kTile.slots * Config::kSlotBytes
               ? slots
               : s + Config::kSlotBytes;
  };
  typename Config::Weights s;
  for (int visit = 0; visit < visits.count; ++visit) {
    const int first_key = visits.tile(visit) * BN;
    const bool needed = Config::kLoop == TileLoop::all || seen.see_some(first_key, BN, sinks);
    const bool masked = Config::kLoop == TileLoop::all || !seen.see_all(first_key, BN);
    const std::uint32_t v_slot = next(slot);
    if constexpr (Config::kFused) {
      // One straight run from Q K^T to P V, masked or not: the products of one part of a tile fill
      // the waits of another. So the sums are rescaled even where the factors are 1.
      const auto attend = [&](auto is_masked) {
        constexpr bool kMasked = decltype(is_masked)::value;
        Config::score(s, held, q_rows, slot);
        softmax.prepare(s);
        if constexpr (kMasked) hide<kFragments, BN>(s, warp_bounds, sinks, first_key);
        softmax.template weigh<kMasked>(s);
        softmax.rescale(o);
        Config::add_values(o, s, v_slot);
      };
      ptx::wait_for_copies<0>();
      __syncthreads();
      copy_k(visit + 1, next(v_slot));
      copy_v(visit + 1, next(next(v_slot)));
      if (needed && masked) attend(std::true_type());
      if (needed && !masked) attend(std::false_type());
      slot = next(v_slot);
    } else {
      if (visit > 0) {
        ptx::wait_for_copies<1>();
        __syncthreads();
      }
      copy_k(visit + 1, next(v_slot));
      if (needed) {
        Config::score(s, held, q_rows, slot);
        softmax.prepare(s);
        if (masked) {
          hide<kFragments, BN>(s, warp_bounds, sinks, first_key);
          softmax.template weigh<true>(s);
        } else {
          softmax.template weigh<false>(s);
        }
        if (softmax.any_rescale()) softmax.rescale(o);
      }
      ptx::wait_for_copies<1>();
      __syncthreads();
      copy_v(visit + 1, slot);
      if (needed) Config::add_values(o, s, v_slot);
      slot = next(v_slot);
    }
  }
  ptx::wait_for_copies<0>();

  // A warp's outputs take the place of its queries, which no other warp reads.
  __syncwarp();
#pragma unroll
  for (int m = 0; m < kFragments; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int local = m * 16 + half * 8 + lane / 4, row = warp * kRows + local;
      const bool exists = row < rows;
      const int head = head_of(exists ? row : 0);
      const RowEnd end = end_of<Config::kPlanted>(softmax.row(m, half), sink_logit_of(p, head));
#pragma unroll
      for (int n = 0; n < Config::kHeadDimV / 8; ++n) {
        const ptx::Fragment pair = ptx::pack(o[m][n][2 * half] * end.factor,
                                             o[m][n][2 * half + 1] * end.factor, Element());
        const std::uint32_t to = q_rows + local * kPitch + n * 16 + lane % 4 * 4;
        asm volatile("st.shared.b32 [%0], %1;\n" ::"r"(to), "r"(pair) : "memory");
      }
      if (exists && lane % 4 == 0 && p.lse != nullptr) {
        static_cast<float*>(p.lse)[offset(p.lse_strides, sequence.entry, head, token_of(row))] =
            end.lse;
      }
    }
  }
  __syncwarp();
  constexpr int kPieces = Config::kHeadDimV / 8;
  Element* const out = static_cast<Element*>(p.out);
  for (int piece = lane; piece < warp_row_count * kPieces; piece += 32) {
    const int local = piece / kPieces, column = piece % kPieces, row = warp * kRows + local;
    const uint4 values =
        *reinterpret_cast<const uint4*>(memory + BM * sizeof(Keys) + row * kPitch + column * 16);
    *reinterpret_cast<uint4*>(
        out + offset(p.out_strides, sequence.entry, head_of(row), token_of(row)) + column * 8) =
        values;
  }
}

template <class Config>
cudaError_t launch_config(const PrefillCall& call, cudaStream_t stream) {
  constexpr int kBytes = Config::kTile.smem_bytes();
  const cudaError_t error =
      cudaFuncSetAttribute(prefill<Config>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (error != cudaSuccess) return error;
  prefill<Config><<<call.blocks, Config::kThreads, kBytes, stream>>>(call);
  return cudaGetLastError();
}

template <class Tag, int kHeadDim, int kHeadDimV>
cudaError_t launch_prefill_of(const PrefillCall& call, PrefillVariant variant,
                              cudaStream_t stream) {
  const auto launch = [&]<Scores kScores, TileLoop kLoop>() {
    return launch_config<Prefill<typename ElementOf<Tag>::type, kHeadDim, kHeadDimV, kScores, kLoop,
                                 Planted::nothing>>(call, stream);
  };
  const bool plain = variant.scores == Scores::plain;
  if (variant.walk == TileLoop::window) {
    return plain ? launch.template operator()<Scores::plain, TileLoop::window>()
                 : launch.template operator()<Scores::general, TileLoop::window>();
  }
  return plain ? launch.template operator()<Scores::plain, TileLoop::all>()
               : launch.template operator()<Scores::general, TileLoop::all>();
}

}  // namespace swa::portable
