// The warp of the band kernel that loads.
#pragma once

#include <cstdint>

#include "kernels/ptx/barrier.cuh"
#include "kernels/ptx/tensor_copy.cuh"
#include "kernels/ptx/wgmma.cuh"
#include "kernels/sm90/band_memory.cuh"
#include "kernels/sm90/band_walk.cuh"

namespace swa::sm90 {

template <class Config>
class BandLoader {
 public:
  static constexpr BandTile kBand = Config::kBand;

  __device__ BandLoader(const BandCall& call, const BandMaps& maps,
                        const BandMemory<Config>& memory)
      : call_(call), maps_(maps), memory_(memory) {}

  __device__ void run() {
    BandWalk walk(call_);
    Segment segment;
    while (walk.next(call_, kBand.warpgroups, segment)) {
      const int positions = call_.positions;
      const int keys = call_.history + segment.tiles * positions;
      const int entries = (keys + kBand.entry - 1) / kBand.entry;
      const int rounds = (segment.tiles + kBand.warpgroups - 1) / kBand.warpgroups;
      int round = 0;
      for (int e = 0; e < entries; ++e) {
        load_keys(segment, segment.first_key + e * kBand.entry);
        // The rounds whose first tile finds all its keys in the ring by now.
        const int loaded = (e + 1) * kBand.entry - call_.history;
        while (round < rounds && (round * kBand.warpgroups + 1) * positions <= loaded) {
          load_queries(segment, round++);
        }
      }
    }
  }

 private:
  __device__ void load_keys(const Segment& segment, int first) {
    ptx::wait_for(memory_.free + 8 * place_.slot, place_.parity ^ 1);
    // The keys that some row of the sequence sees.
    const Index last_position = static_cast<Index>(segment.q_offset) + segment.n_q;
    const int begin = static_cast<int>(
        larger(0, segment.q_offset - smaller(call_.params.window.width - 1, segment.n_k)));
    const int end = static_cast<int>(smaller(segment.n_k, last_position));
    // Zeros stand for the others: they come by themselves from beyond the tensor.
    const bool zeros_before = first >= begin || (begin == 0 && segment.k_row == 0);
    const bool zeros_after = first + kBand.entry <= end || (end > 0 && end == segment.n_k &&
                                                            segment.k_row + end == call_.tokens_k);
    const std::uint32_t full = memory_.full + 8 * place_.slot;
    if (zeros_before && zeros_after) {
      copy_keys(segment, first, full);
    } else {
      const bool some = first < end && first + kBand.entry > begin;
      if (some) {
        copy_keys(segment, first, memory_.edge);
        ptx::wait_for(memory_.edge, edges_++ & 1);
      }
      write_zeros(first, begin, end);
      ptx::show_to_products();
      __syncwarp();
      if (lane() == 0) ptx::arrive(full);
    }
    place_.step(call_.slots);
    if (place_.slot == 0) first_lap_ = false;
  }

  // On the first lap nothing goes on behind the ring's end yet.
  __device__ bool is_mirrored(int mirrored) const { return !first_lap_ && place_.slot < mirrored; }

  __device__ void copy_keys(const Segment& segment, int first, std::uint32_t barrier) {
    if (lane() != 0) return;
    const bool twice_k = is_mirrored(kBand.mirrored_k()), twice_v = is_mirrored(kBand.mirrored_v());
    ptx::arrive_expecting(barrier, Config::kHalves * kBand.entry_bytes() * (2 + twice_k + twice_v));
    const std::uint32_t at = place_.slot * kBand.entry_bytes();
    const std::uint32_t mirror = call_.slots * kBand.entry_bytes();
#pragma unroll
    for (int half = 0; half < Config::kHalves; ++half) {
      const ptx::BoxOrigin origin{64 * half, 0, segment.kv_head, segment.k_row + first,
                                  segment.entry};
      const std::uint32_t k = memory_.k + half * memory_.k_half + at;
      const std::uint32_t v = memory_.v + half * memory_.v_half + at;
      ptx::load_box(k, maps_.k, origin, barrier, keep_);
      ptx::load_box(v, maps_.v, origin, barrier, keep_);
      if (twice_k) ptx::load_box(k + mirror, maps_.k, origin, barrier, keep_);
      if (twice_v) ptx::load_box(v + mirror, maps_.v, origin, barrier, keep_);
    }
  }

  // V of the keys outside [begin, end): their weights are 0, and 0 times NaN is not. What K has
  // there does not matter: no score of theirs is used.
  __device__ void write_zeros(int first, int begin, int end) {
    const bool twice = is_mirrored(kBand.mirrored_v());
    const std::uint32_t mirror = call_.slots * kBand.entry_bytes();
    for (int i = lane(); i < kBand.entry * (BandTile::kRowBytes / 16); i += 32) {
      const int key = first + i / 8;
      if (key >= begin && key < end) continue;
#pragma unroll
      for (int half = 0; half < Config::kHalves; ++half) {
        const std::uint32_t to =
            memory_.v + half * memory_.v_half + place_.slot * kBand.entry_bytes() + i * 16;
        store_zeros(to);
        if (twice) store_zeros(to + mirror);
      }
    }
  }
  static __device__ void store_zeros(std::uint32_t to) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};\n" ::"r"(to), "r"(0) : "memory");
  }

  // A tile for each warpgroup. Where the last round has none for it, its turn comes all the same.
  __device__ void load_queries(const Segment& segment, int round) {
#pragma unroll
    for (int warpgroup = 0; warpgroup < kBand.warpgroups; ++warpgroup) {
      const int tile = round * kBand.warpgroups + warpgroup;
      const int index = warpgroup * call_.query_stages + stage_.slot;
      const std::uint32_t full = memory_.q_full + 8 * index;
      ptx::wait_for(memory_.q_free + 8 * index, stage_.parity ^ 1);
      if (lane() != 0) continue;
      if (tile >= segment.tiles) {
        ptx::arrive(full);
        continue;
      }
      ptx::arrive_expecting(full, kBand.query_bytes());
#pragma unroll
      for (int half = 0; half < Config::kHalves; ++half) {
        const ptx::BoxOrigin origin{64 * half, segment.first_head, segment.kv_head,
                                    segment.q_row + segment.first_position + tile * call_.positions,
                                    segment.entry};
        ptx::load_box(memory_.q + index * kBand.query_bytes() + half * kBand.kHalfTileBytes,
                      maps_.q, origin, full, pass_by_);
      }
    }
    stage_.step(call_.query_stages);
  }

  static __device__ int lane() {
    return static_cast<int>(threadIdx.x % 32);
  }

  const BandCall& call_;
  const BandMaps& maps_;
  const BandMemory<Config>& memory_;
  const ptx::CachePolicy keep_ = ptx::evict_last(), pass_by_ = ptx::evict_first();
  RingPlace place_, stage_;
  bool first_lap_ = true;
  unsigned edges_ = 0;
};

}  // namespace swa::sm90
