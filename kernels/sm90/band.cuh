// Windowed attention on Hopper for windows that fit into shared memory.
//
// A block walks along the positions of a kv head and keeps the last keys in a ring, so that each is
// loaded once. Warpgroups compute a tile each (launch/band.hpp), one behind the other, and with no
// order between them but the ring's: one waits for memory while another multiplies. One warp of a
// further warpgroup loads.
//
// Coordinates: column c of a tile is the key `first position + q_offset - history + c`. Row r of
// the tile is head r % heads at position i = r / heads, and sees the columns
// [history + i - (W - 1), history + i]: the same in every tile. Passes of 8 kBlocks columns go from
// the newest to the oldest, so that the first one holds the key of each row's own position, and the
// maximum is finite from then on.
//
// Barriers: full[slot] an entry of the ring is loaded; free[slot] all warps have done with it;
// q_full and q_free likewise for each tile of Q. Each warp that computes frees every entry once, in
// order, and after it was full.
#pragma once

#include "kernels/ptx/barrier.cuh"
#include "kernels/ptx/mma.cuh"
#include "kernels/ptx/stopwatch.cuh"
#include "kernels/ptx/tensor_copy.cuh"
#include "kernels/ptx/wgmma.cuh"
#include "kernels/sm90/band_loader.cuh"
#include "kernels/sm90/band_warp.cuh"

namespace swa::sm90 {

template <class Config>
__global__ void __launch_bounds__(Config::kBand.threads(), 1)
    band(const __grid_constant__ BandCall call, const __grid_constant__ BandMaps maps) {
  constexpr BandTile kBand = Config::kBand;
  const ptx::Stopwatch stopwatch(call.params);
  extern __shared__ __align__(16) unsigned char memory_bytes[];
  const std::uint32_t unaligned =
      static_cast<std::uint32_t>(__cvta_generic_to_shared(memory_bytes));
  const BandMemory<Config> memory(call, (unaligned + 1023) & ~1023U);
  // The same in all lanes, which the compiler does not know of threadIdx.x / 32.
  const int warp = __shfl_sync(~0U, static_cast<int>(threadIdx.x / 32), 0);

  if (threadIdx.x == 0) {
    for (int i = 0; i < call.slots; ++i) {
      ptx::init_barrier(memory.full + 8 * i, 1);
      ptx::init_barrier(memory.free + 8 * i, 4 * kBand.warpgroups);
    }
    for (int i = 0; i < kBand.warpgroups * call.query_stages; ++i) {
      ptx::init_barrier(memory.q_full + 8 * i, 1);
      ptx::init_barrier(memory.q_free + 8 * i, 4);
    }
    ptx::init_barrier(memory.edge, 1);
    ptx::show_barriers();
    ptx::prefetch(maps.q);
    ptx::prefetch(maps.k);
    ptx::prefetch(maps.v);
    ptx::prefetch(maps.out);
  }
  if (Config::kSumsByProduct && threadIdx.x < 128) {
    const ptx::Fragment ones = ptx::pack(1, 1, typename Config::Element());
    asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};\n" ::"r"(memory.ones + threadIdx.x * 16),
                 "r"(ones)
                 : "memory");
    ptx::show_to_products();
  }
  __syncthreads();

  if (warp >= 4 * kBand.warpgroups) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(kBand.loader_registers()));
    if (warp == 4 * kBand.warpgroups) BandLoader<Config>(call, maps, memory).run();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(kBand.registers));
    BandWarpState& state = *reinterpret_cast<BandWarpState*>(
        memory_bytes + (memory.states - unaligned) + warp * BandTile::kStateBytes);
    BandWarp<Config>(call, maps, memory, state, warp).run();
  }
}

}  // namespace swa::sm90
