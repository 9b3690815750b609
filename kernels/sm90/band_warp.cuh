// The warps of the band kernel that compute: each has 16 rows of its warpgroup's tile.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "kernels/portable/softmax.cuh"
#include "kernels/ptx/barrier.cuh"
#include "kernels/ptx/mma.cuh"
#include "kernels/ptx/tensor_copy.cuh"
#include "kernels/ptx/wgmma.cuh"
#include "kernels/sm90/band_columns.hpp"
#include "kernels/sm90/band_memory.cuh"
#include "kernels/sm90/band_walk.cuh"

namespace swa::sm90 {

// What a warp that computes keeps in shared memory: it has no registers to spare. One lane writes
// there, between two barriers of the warp.
struct BandWarpState {
  BandWalk walk;
  Segment segment;
  int first_slot;      // of the segment
  int entries, freed;  // of the segment
};
static_assert(sizeof(BandWarpState) <= BandTile::kStateBytes);

template <class Config>
class BandWarp {
 public:
  using Element = typename Config::Element;
  static constexpr BandTile kBand = Config::kBand;
  static constexpr int kBlocks = Config::kBlocks, kHalves = Config::kHalves;

  __device__ BandWarp(const BandCall& call, const BandMaps& maps, const BandMemory<Config>& memory,
                      BandWarpState& state, int warp)
      : call_(call),
        maps_(maps),
        memory_(memory),
        state_(state),
        warpgroup_(warp / 4),
        warp_(warp % 4),
        lane_(static_cast<int>(threadIdx.x % 32)),
        ring_blocks_(call.slots * kBand.entry / 8),
        plain_(call.params.scale > 0 && call.params.softcap == 0),
        factor_(plain_ ? static_cast<float>(call.params.scale) * portable::kLog2E : 1) {
    if (lane_ == 0) {
      state_.walk = BandWalk(call);
      state_.first_slot = 0;
    }
    __syncwarp();
  }

  __device__ void run() {
    const Segment& segment = state_.segment;
    while (next_segment()) {
      const int rounds = (segment.tiles + kBand.warpgroups - 1) / kBand.warpgroups;
      filled_ = 0;
      int tile = warpgroup_;
      if (tile < segment.tiles) {
        free_until(tile * positions() / kBand.entry);
        fill_until((history() + tile * positions()) / kBand.entry);
        block_ = wrapped(state_.first_slot * (kBand.entry / 8) + warpgroup_ * (positions() / 8));
        start_scores(tile);
        // One straight run from a product to the next: ptxas runs products one by one where they
        // are started under a condition.
        while (true) {
          attend(segment, tile);
          const int done = tile;
          tile += kBand.warpgroups;
          free_before(tile);
          if (tile >= segment.tiles) {
            store(segment, done);
            break;
          }
          block_ = wrapped(block_ + kBand.warpgroups * (positions() / 8));
          start_scores(tile);
          store(segment, done);
        }
      }
      if (tile < rounds * kBand.warpgroups) {  // a turn without a tile
        wait_for_queries();
        free_queries();
      }
      if constexpr (Config::kEntryARound) keep(state_.freed, tile / kBand.warpgroups);
      free_until(state_.entries);
      keep(state_.first_slot, (state_.first_slot + state_.entries) % call_.slots);
    }
    if (lane_ == 0) ptx::wait_for_stores();
  }

 private:
  __device__ int passes() const { return Config::passes(call_); }
  __device__ int positions() const { return Config::positions(call_); }
  __device__ int history() const { return Config::history(call_); }

  __device__ int wrapped(int block) const {
    return block < ring_blocks_ ? block : block - ring_blocks_;  // never two rings further on
  }

  __device__ bool next_segment() {
    BandWalk walk = state_.walk;
    Segment segment;
    if (!walk.next(call_, kBand.warpgroups, segment)) return false;
    __syncwarp();
    if (lane_ == 0) {
      state_.walk = walk;
      state_.segment = segment;
      state_.entries = (history() + segment.tiles * positions() + kBand.entry - 1) / kBand.entry;
      state_.freed = 0;
    }
    __syncwarp();
    return true;
  }
  __device__ void keep(int& of_state, int value) const {
    __syncwarp();
    if (lane_ == 0) of_state = value;
    __syncwarp();
  }

  // Of the thread's row of a half, in the tile.
  __device__ int row(int half) const { return 16 * warp_ + 8 * half + lane_ / 4; }
  __device__ int position(int half) const { return row(half) >> Config::head_bits(call_); }
  __device__ int head(int half) const { return row(half) & (Config::heads(call_) - 1); }
  __device__ BandColumns columns() const {
    if constexpr (kBand.merged) return {history(), 1, positions()};
    return BandColumns::of(history(), call_.params.window.width, positions());
  }

  // ---- the ring

  __device__ void fill_until(int entry) {
    for (; filled_ < entry; ++filled_) {
      ptx::wait_for(memory_.full + 8 * fill_.slot, fill_.parity);
      fill_.step(call_.slots);
    }
  }
  // Of an entry that was filled, or of the next one.
  __device__ int slot_of(int entry) const {
    const int slot = fill_.slot - (filled_ - entry);
    return slot < 0 ? slot + call_.slots : slot;
  }
  __device__ void free_entry(int entry) {
    if (lane_ == 0) ptx::arrive(memory_.free + 8 * slot_of(entry));
  }
  __device__ void free_until(int entry) {
    int freed = state_.freed;
    for (entry = min(entry, state_.entries); freed < entry; ++freed) {
      fill_until(freed + 1);
      free_entry(freed);
    }
    keep(state_.freed, freed);
  }
  // Those that no tile from `tile` on reads.
  __device__ void free_before(int tile) {
    if constexpr (Config::kEntryARound) {
      free_entry(filled_ - Config::kEntriesOfTile);
    } else {
      free_until(tile * positions() / kBand.entry);
    }
  }
  // Those that a tile reads.
  __device__ void fill_for(int tile) {
    if constexpr (Config::kEntryARound) {
      fill_until(filled_ + 1);
    } else {
      fill_until((history() + (tile + 1) * positions() + kBand.entry - 1) / kBand.entry);
    }
  }
  __device__ int query_index() const { return warpgroup_ * call_.query_stages + stage_.slot; }
  __device__ void wait_for_queries() {
    ptx::wait_for(memory_.q_full + 8 * query_index(), stage_.parity);
  }
  __device__ void free_queries() {
    if (lane_ == 0) ptx::arrive(memory_.q_free + 8 * query_index());
    stage_.step(call_.query_stages);
  }

  // ---- scores

  // Of the pass that begins at a block of the ring.
  __device__ void multiply_keys(int block) {
    const std::uint32_t q = memory_.q + ptx::uniform(query_index()) * kBand.query_bytes();
    const std::uint32_t k = memory_.k + block * 1024;
    ptx::fence_products();
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      const ptx::MatrixDescriptor a = ptx::swizzled_rows(q + half * kBand.kHalfTileBytes);
      const ptx::MatrixDescriptor b = ptx::swizzled_rows(k + half * memory_.k_half);
#pragma unroll
      for (int step = 0; step < 4; ++step) {
        ptx::multiply_rows(s_, a + step * ptx::kNextDepth, b + step * ptx::kNextDepth,
                           half + step > 0, Element());
      }
    }
    ptx::commit_products();
  }

  __device__ int block_of_pass(int pass) const {
    return ptx::uniform(wrapped(block_ + (passes() - 1 - pass) * kBlocks));
  }

  __device__ void start_scores(int tile) {
    fill_for(tile);
    wait_for_queries();
    multiply_keys(block_of_pass(0));
  }

  // Scores in units of log2, where they are not plain. tanh x = 1 - 2 / (1 + e^2x).
  __device__ void prepare() {
    const float scale = static_cast<float>(call_.params.scale);
    const float cap = static_cast<float>(call_.params.softcap);
    if (cap > 0) {
      const float twice = 2 * portable::kLog2E * scale / cap;
#pragma unroll
      for (float& s : s_) {
        s = cap * portable::kLog2E * (1 - __fdividef(2, 1 + ptx::exp2_fast(s * twice)));
      }
    } else {
#pragma unroll
      for (float& s : s_) s = s * scale * portable::kLog2E;
    }
  }

  // The columns of a pass that a row does not see become -inf: all outside [low, high).
  __device__ void hide(int first_column, bool at_edge, int low_key, int high_key) {
    const BandColumns seen = columns();
    int low[2], size[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int begin = max(seen.band + position(half), low_key);
      const int end = min(seen.history + position(half) + 1, high_key);
      low[half] = begin - first_column - lane_ % 4 * 2;
      size[half] = max(end - begin, 0);
    }
#pragma unroll
    for (int j = 0; j < kBlocks; ++j) {
      if (!at_edge && seen.all_see(first_column + 8 * j, 8)) continue;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int half = i / 2, column = 8 * j + i % 2;
        const bool sees =
            static_cast<unsigned>(column - low[half]) < static_cast<unsigned>(size[half]);
        s_[4 * j + i] = sees ? s_[4 * j + i] : -INFINITY;
      }
    }
  }

  // Whether a column of the first block is seen by the row of a half; the last block's is where the
  // first one's is not.
  __device__ bool sees_first(int half, int i) const {
    return lane_ % 4 * 2 + i > position(half);
  }

  static constexpr int kWeighed = kBand.merged ? kBlocks - 1 : kBlocks;  // blocks

  __device__ float highest_of(int half) const {
    float a = s_[2 * half], b = s_[2 * half + 1];
    float c = s_[4 + 2 * half], d = s_[4 + 2 * half + 1];
#pragma unroll
    for (int j = 2; j < kWeighed; ++j) {
      float& first = j % 2 == 0 ? a : c;
      float& second = j % 2 == 0 ? b : d;
      first = fmaxf(first, s_[4 * j + 2 * half]);
      second = fmaxf(second, s_[4 * j + 2 * half + 1]);
    }
    float highest = fmaxf(fmaxf(a, b), fmaxf(c, d));
    highest = fmaxf(highest, __shfl_xor_sync(~0U, highest, 1));
    return fmaxf(highest, __shfl_xor_sync(~0U, highest, 2));
  }

  // ---- one tile

  __device__ void attend(const Segment& segment, int tile) {
    // Keys of the sequence, as columns of this tile.
    const int first_key = segment.first_key + tile * positions();
    const int low_key = -first_key, high_key = segment.n_k - first_key;
    const bool at_edge = low_key > columns().band || high_key < history() + positions();
    const bool wants_sums = !Config::kSumsByProduct || call_.params.lse != nullptr;
    float highest[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
    float o[Config::kOutputs];

    for (int pass = 0;; ++pass) {
      const bool last = pass + 1 == passes();
      ptx::wait_for_products<0>();
      ptx::take_sums(s_);
      if (last) free_queries();
      if (!plain_) prepare();
      const int first_column = (passes() - 1 - pass) * 8 * kBlocks;
      if (at_edge || (!kBand.merged && !columns().all_see(first_column, 8 * kBlocks))) {
        hide(first_column, at_edge, low_key, high_key);
      }
      if constexpr (kBand.merged) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          s_[i] = sees_first(i / 2, i % 2) ? s_[i] : s_[4 * (kBlocks - 1) + i];
        }
      }

      float shift[2], rescale[2];
      bool large[2], extreme = false;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float before = highest[half];
        highest[half] = fmaxf(before, highest_of(half));
        // -inf where a row has seen no key: 0 keeps its weights 0.
        const float reference = highest[half] == -INFINITY ? 0 : highest[half];
        shift[half] = __fmul_rn(reference, factor_);
        // The product of a large score is rounded by more than the exponent of a weight may be off.
        large[half] = fabsf(shift[half]) > 0x1p20F;
        extreme |= large[half];
        rescale[half] = ptx::exp2_fast(large[half] ? (before - reference) * factor_
                                                   : __fmul_rn(before, factor_) - shift[half]);
      }
      extreme = __any_sync(~0U, extreme);

      ptx::Fragment p[kBlocks / 2 + 1][4];
      float added[2] = {0, 0};
      const auto weigh = [&](auto adds, auto exponent) {
#pragma unroll
        for (int j = 0; j < kWeighed; ++j) {
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const float a = ptx::exp2_fast(exponent(s_[4 * j + 2 * half], half));
            const float b = ptx::exp2_fast(exponent(s_[4 * j + 2 * half + 1], half));
            p[j / 2][j % 2 * 2 + half] = ptx::pack(a, b, Element());
            if constexpr (decltype(adds)::value) added[half] += a + b;
          }
        }
      };
      const auto exponent = [&](float s, int half) { return fmaf(s, factor_, -shift[half]); };
      if (!extreme && !wants_sums) {
        weigh(std::false_type(), exponent);
      } else if (!extreme) {
        weigh(std::true_type(), exponent);
      } else {
        weigh(std::true_type(), [&](float s, int half) {
          return large[half] ? (s - highest[half]) * factor_ : exponent(s, half);
        });
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        sum[half] = sum[half] * rescale[half] + added[half];
        if constexpr (kBand.merged) {
          const ptx::Fragment first =
              (sees_first(half, 0) ? 0xFFFFU : 0) | (sees_first(half, 1) ? 0xFFFF0000U : 0);
          p[kBlocks / 2][half] = p[0][half] & ~first;
          p[0][half] &= first;
        }
        p[kBlocks / 2][2 + half] = 0;  // nothing follows the last block
      }
      if (pass > 0) {
#pragma unroll
        for (int i = 0; i < Config::kOutputs; ++i) o[i] *= rescale[i / 2 % 2];
      }

      const int block = block_of_pass(pass);
      const std::uint32_t v = memory_.v + block * 1024;
      std::uint32_t place =
          ptx::place_of_columns(v, Config::kSumsByProduct ? memory_.ones - v : memory_.v_half);
      ptx::fence_products();
#pragma unroll
      for (int step = 0; step <= kBlocks / 2; ++step) {
        // The last block stands for its missing neighbour, whose weights are 0.
        const std::uint32_t group = step < kBlocks / 2 ? 1024 : 0;
        ptx::multiply_columns(o, p[step], ptx::swizzled_columns(place, group), pass + step > 0,
                              Element());
        place += Config::kSumsByProduct ? ptx::kNextRowsAlone : ptx::kNextRows;
        // Behind the ring's end v goes on at its beginning, where it has no mirror.
        if (kBand.mirrored_v() < kBand.mirrored_k() && block + 2 * step + 2 >= ring_blocks_ &&
            block + 2 * step < ring_blocks_) {
          place -= ring_blocks_ * 1024 >> 4;
        }
      }
      ptx::commit_products();
      ptx::wait_for_products<0>();
      ptx::take_sums(o);
      if (last) break;
      multiply_keys(block_of_pass(pass + 1));
    }
    finish(segment, tile, o, highest, sum);
  }

  // Writes the outputs of the tile, to where store() finds them, and its log-sum-exp.
  __device__ void finish(const Segment& segment, int tile, const float (&o)[Config::kOutputs],
                         const float (&highest)[2], float (&sum)[2]) {
    const ForwardParams& params = call_.params;
    const int first = segment.first_position + tile * positions();
    float scale[2], lse[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float top = highest[half] * factor_;  // -inf where the row has seen no key
      if (Config::kSumsByProduct && params.lse == nullptr) {
        sum[half] = o[Config::kOutputs - 4 + 2 * half];
      } else {
        sum[half] += __shfl_xor_sync(~0U, sum[half], 1);
        sum[half] += __shfl_xor_sync(~0U, sum[half], 2);
      }
      const float by_product =
          Config::kSumsByProduct ? o[Config::kOutputs - 4 + 2 * half] : sum[half];
      scale[half] = by_product > 0 ? ptx::reciprocal_fast(by_product) : 0;
      lse[half] = (top + ptx::log2_fast(sum[half])) * portable::kLn2;
    }
    if (params.sink_logits != nullptr) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int in_group = segment.first_head + head(half);
        const int query_head =
            segment.kv_head * call_.group + (in_group < call_.group ? in_group : 0);
        const float sink = portable::sink_logit_of(params, query_head);
        const float by_product =
            Config::kSumsByProduct ? o[Config::kOutputs - 4 + 2 * half] : sum[half];
        const float top = highest[half] * factor_;
        scale[half] = portable::end_of({top, by_product}, sink).factor;
        lse[half] = portable::end_of({top, sum[half]}, sink).lse;
      }
    }
    ptx::Fragment pairs[Config::kPairs];  // block j of half h at 2 j + h
#pragma unroll
    for (int half = 0; half < 2; ++half) {
#pragma unroll
      for (int j = 0; j < kBand.head_dim / 8; ++j) {
        pairs[2 * j + half] = ptx::pack(o[4 * j + 2 * half] * scale[half],
                                        o[4 * j + 2 * half + 1] * scale[half], Element());
      }
    }
    if (first + positions() <= segment.n_q) {
      write_buffer(pairs);
    } else {
      write_rows(segment, first, pairs);
    }
    if (params.lse != nullptr && lane_ % 4 < 2) {  // of the four lanes of a row one for each half
      const int half = lane_ % 4;
      const int in_group = segment.first_head + head(half), at = first + position(half);
      if (in_group < call_.group && at < segment.n_q) {
        static_cast<float*>(
            params.lse)[offset(params.lse_strides, segment.entry,
                               segment.kv_head * call_.group + in_group, segment.q_row + at)] =
            half == 0 ? lse[0] : lse[1];
      }
    }
  }

  // ---- outputs

  __device__ std::uint32_t buffer() const {
    return memory_.out + (4 * warpgroup_ + warp_) * kHalves * kBand.kWarpTileBytes;
  }

  __device__ void write_buffer(const ptx::Fragment (&pairs)[Config::kPairs]) const {
    if (lane_ == 0) ptx::wait_for_stores_to_read();
    __syncwarp();
    // stmatrix: lane l names row l % 8 of matrix l / 8, which are two blocks of both halves.
    const std::uint32_t row = buffer() + lane_ / 8 % 2 * 1024 + lane_ % 8 * BandTile::kRowBytes;
#pragma unroll
    for (int j = 0; j < kBand.head_dim / 8; j += 2) {
      const std::uint32_t to =
          row + j / 8 * kBand.kWarpTileBytes + (((j % 8 + lane_ / 16) ^ lane_ % 8) << 4);
      asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};\n" ::"r"(to),
                   "r"(pairs[2 * j]), "r"(pairs[2 * j + 1]), "r"(pairs[2 * j + 2]),
                   "r"(pairs[2 * j + 3])
                   : "memory");
    }
  }

  // What write_buffer() wrote.
  __device__ void store(const Segment& segment, int tile) const {
    const int first = segment.first_position + tile * positions();
    if (first + positions() > segment.n_q) return;
    ptx::show_to_products();
    __syncwarp();
    if (lane_ != 0) return;
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      ptx::store_box(
          maps_.out,
          {64 * half, segment.first_head, segment.kv_head,
           segment.q_row + first + (16 * warp_ >> Config::head_bits(call_)), segment.entry},
          buffer() + half * kBand.kWarpTileBytes, ptx::evict_first());
    }
    ptx::commit_stores();
  }

  // Of a tile that hangs over the end of its sequence, where the rows of another one may begin.
  __device__ void write_rows(const Segment& segment, int first,
                             const ptx::Fragment (&pairs)[Config::kPairs]) const {
    const ForwardParams& params = call_.params;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int in_group = segment.first_head + head(half), at = first + position(half);
      if (in_group >= call_.group || at >= segment.n_q) continue;
      Element* const to = static_cast<Element*>(params.out) +
                          offset(params.out_strides, segment.entry,
                                 segment.kv_head * call_.group + in_group, segment.q_row + at);
#pragma unroll
      for (int j = 0; j < kBand.head_dim / 8; ++j) {
        *reinterpret_cast<ptx::Fragment*>(to + 8 * j + lane_ % 4 * 2) = pairs[2 * j + half];
      }
    }
  }

  const BandCall& call_;
  const BandMaps& maps_;
  const BandMemory<Config>& memory_;
  BandWarpState& state_;
  const int warpgroup_, warp_, lane_;
  const int ring_blocks_;
  const bool plain_;
  const float factor_;  // from scores to units of log2

  int filled_ = 0;  // entries of the segment
  RingPlace fill_, stage_;
  int block_ = 0;  // of the ring, where the tile's band begins

  float s_[Config::kSums];
};

}  // namespace swa::sm90
