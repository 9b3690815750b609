#include "kernels/roofs/roofs.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernels/ptx/copy.cuh"
#include "kernels/ptx/mma.cuh"
#include "kernels/ptx/wgmma.cuh"

namespace swa {
namespace {

// Keeps what was computed from being optimised away: no compiler knows that the store is not for
// now. Where a value happens to be kNever, the store is real and harmless.
constexpr std::uint32_t kNever = 0x7FC5AFE1;  // as a float a NaN, which no sum here is
__device__ std::uint32_t kept;
__device__ void keep(std::uint32_t value) {
  if (value == kNever) kept = value;
}
template <int kSums>
__device__ void keep_all(const float (&sums)[kSums]) {
  float total = 0;
  for (int i = 0; i < kSums; ++i) total += sums[i];
  keep(__float_as_uint(total));
}

__global__ void empty() {}

constexpr int kLoads = 8;  // of a thread, in flight
constexpr int kMostThreads = 1024;

// 16 bytes that nobody reads again.
__device__ uint4 load_once(const uint4* from) {
  uint4 x;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "l"(from));
  return x;
}

// ptxas would use the first pieces before it loads the last, to spare registers; then only 4 to 6
// are in flight. Here it sees a side effect that depends on all of them, and which is none.
__device__ void wait_for(const uint4 (&loaded)[kLoads]) {
  std::uint32_t all = 0;
  for (const uint4& x : loaded) all |= x.x;
  asm volatile(
      "{.reg .pred rare;\n"
      "setp.eq.u32 rare, %0, %1;\n"
      "@rare nanosleep.u32 0;}\n" ::"r"(all),
      "n"(kNever)
      : "memory");
}

// Calls `use` with an index and what lies there: of each thread's pieces, kLoads are loaded before
// the first is used.
template <class Use>
__device__ void for_each_piece(const uint4* from, std::uint64_t pieces, Use use) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint64_t at = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; at + (kLoads - 1) * stride < pieces; at += kLoads * stride) {
    uint4 loaded[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) loaded[i] = load_once(from + at + i * stride);
    wait_for(loaded);
#pragma unroll
    for (int i = 0; i < kLoads; ++i) use(at + i * stride, loaded[i]);
  }
  uint4 loaded[kLoads];
#pragma unroll
  for (int i = 0; i < kLoads - 1; ++i) {
    if (at + i * stride < pieces) loaded[i] = load_once(from + at + i * stride);
  }
#pragma unroll
  for (int i = 0; i < kLoads - 1; ++i) {
    if (at + i * stride < pieces) use(at + i * stride, loaded[i]);
  }
}

__global__ void __launch_bounds__(kMostThreads) read(const uint4* from, std::uint64_t pieces) {
  std::uint32_t all = 0;
  for_each_piece(from, pieces,
                 [&](std::uint64_t, const uint4& x) { all ^= x.x ^ x.y ^ x.z ^ x.w; });
  keep(all);
}

__global__ void __launch_bounds__(kMostThreads)
    copy(uint4* to, const uint4* from, std::uint64_t pieces) {
  for_each_piece(from, pieces, [&](std::uint64_t at, const uint4& x) { __stcs(to + at, x); });
}

// Numbers of mean 0 and variance 1, nearly normal (the sum of four uniform bytes, up to 3.45):
// other ones for each thread, and for each of its first 256 calls.
class Normals {
 public:
  __device__ Normals() : next_((blockIdx.x * blockDim.x + threadIdx.x) * 256) {}
  __device__ float operator()() {
    std::uint32_t x = next_++;  // mixed as by MurmurHash3 (A. Appleby)
    x = (x ^ x >> 16) * 0x85EBCA6B;
    x = (x ^ x >> 13) * 0xC2B2AE35;
    x ^= x >> 16;
    const int sum = static_cast<int>(__dp4a(x, 0x01010101U, 0U));
    return static_cast<float>(sum - 510) * 0.0067659F;  // 1 / sqrt(4 (256^2 - 1) / 12)
  }

 private:
  std::uint32_t next_;
};

// Every loop adds the same products with both signs in turns, so that no sum grows.

constexpr int kFmaThreads = 512, kFmaSide = 8, kFmaSteps = 2;
// 64 sums a thread, as in a matrix product that has 8 rows of A and 8 columns of B in registers.
__global__ void __launch_bounds__(kFmaThreads, 1) fma_fp32(int iterations) {
  Normals normal;
  float a[kFmaSteps][kFmaSide], b[kFmaSide], c[kFmaSide * kFmaSide] = {};
  for (int i = 0; i < kFmaSide; ++i) {
    for (int step = 0; step < kFmaSteps; ++step) a[step][i] = normal();
    b[i] = normal();
  }
#pragma unroll 1
  for (int n = 0; n < iterations; ++n) {
#pragma unroll
    for (int step = 0; step < 2 * kFmaSteps; ++step) {
#pragma unroll
      for (int i = 0; i < kFmaSide * kFmaSide; ++i) {
        const float factor = a[step % kFmaSteps][i / kFmaSide];
        c[i] = fmaf(step < kFmaSteps ? factor : -factor, b[i % kFmaSide], c[i]);
      }
    }
  }
  keep_all(c);
}

struct Tf32 {};

template <class Element>
__device__ ptx::Fragment random_fragment(Normals& normal, Element element) {
  const float low = normal();
  return ptx::pack(low, normal(), element);
}
__device__ ptx::Fragment random_fragment(Normals& normal, Tf32 /*element*/) {
  return __float_as_uint(ptx::round_to_tf32(normal()));
}

__device__ void multiply_add(float (&c)[4], const ptx::Fragment (&a)[4], ptx::Fragment b0,
                             ptx::Fragment b1, Tf32 /*element*/) {
  const float factors[4] = {__uint_as_float(a[0]), __uint_as_float(a[1]), __uint_as_float(a[2]),
                            __uint_as_float(a[3])};
  ptx::multiply_add_tf32(c, factors, __uint_as_float(b0), __uint_as_float(b1));
}
template <class Element>
__device__ void multiply_add(float (&c)[4], const ptx::Fragment (&a)[4], ptx::Fragment b0,
                             ptx::Fragment b1, Element element) {
  ptx::multiply_add(c, a, b0, b1, element);
}

constexpr ptx::Fragment kSigns16 = 0x80008000, kSigns32 = 0x80000000;

constexpr int kMmaThreads = 512, kMmaRows = 2, kMmaColumns = 8;
// 16 tiles of sums a warp: 32 rows and 64 columns.
template <class Element>
__global__ void __launch_bounds__(kMmaThreads, 1) mma_sync(int iterations) {
  constexpr ptx::Fragment kSigns = sizeof(Element) == 2 ? kSigns16 : kSigns32;
  Normals normal;
  ptx::Fragment a[2][kMmaRows][4], b[kMmaColumns][2];
  float c[kMmaRows][kMmaColumns][4] = {};
  for (int row = 0; row < kMmaRows; ++row) {
    for (int i = 0; i < 4; ++i) {
      a[0][row][i] = random_fragment(normal, Element{});
      a[1][row][i] = a[0][row][i] ^ kSigns;
    }
  }
#pragma unroll
  for (auto& column : b) {
#pragma unroll
    for (auto& fragment : column) fragment = random_fragment(normal, Element{});
  }
#pragma unroll 1
  for (int n = 0; n < iterations; ++n) {
#pragma unroll
    for (int sign = 0; sign < 2; ++sign) {
#pragma unroll
      for (int row = 0; row < kMmaRows; ++row) {
#pragma unroll
        for (int i = 0; i < kMmaColumns; ++i) {
          multiply_add(c[row][i], a[sign][row], b[i][0], b[i][1], Element{});
        }
      }
    }
  }
  float all[4] = {};
  for (const auto& row : c) {
    for (const auto& tile : row) {
      for (int i = 0; i < 4; ++i) all[i] += tile[i];
    }
  }
  keep_all(all);
}

constexpr int kWarpgroup = 128, kWgmmaThreads = 2 * kWarpgroup;
constexpr int kWgmmaColumns = 256, kWgmmaDepths = 4;  // 64 elements of depth: a swizzled row of B
constexpr int kWgmmaBytesB = kWgmmaColumns * kWgmmaDepths * 16 * 2;
// Both warpgroups multiply with the same B, which has all that shared memory can deliver to spare.
// The body, its shared memory included, is in code for sm_90a alone: has() tells by that.
template <class Element>
__global__ void __launch_bounds__(kWgmmaThreads, 1) wgmma([[maybe_unused]] int iterations) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  __shared__ alignas(1024) ptx::Fragment tile[kWgmmaBytesB / sizeof(ptx::Fragment)];
  Normals normal;
  // Any order will do: the elements are alike.
  for (int i = threadIdx.x; i < kWgmmaBytesB / static_cast<int>(sizeof(ptx::Fragment));
       i += kWgmmaThreads) {
    tile[i] = random_fragment(normal, Element{});
  }
  ptx::show_to_products();
  __syncthreads();

  ptx::Fragment a[2][kWgmmaDepths][4];
  for (int depth = 0; depth < kWgmmaDepths; ++depth) {
    for (int i = 0; i < 4; ++i) {
      a[0][depth][i] = random_fragment(normal, Element{});
      a[1][depth][i] = a[0][depth][i] ^ kSigns16;
    }
  }
  float c[kWgmmaColumns / 2] = {};
  const ptx::MatrixDescriptor b = ptx::swizzled_rows(ptx::shared_address(tile));
#pragma unroll 1
  for (int n = 0; n < iterations; ++n) {
    ptx::fence_products();
#pragma unroll
    for (int sign = 0; sign < 2; ++sign) {
#pragma unroll
      for (int depth = 0; depth < kWgmmaDepths; ++depth) {
        ptx::multiply_add_64x256(c, a[sign][depth], b + depth * ptx::kNextDepth, Element{});
      }
    }
    ptx::commit_products();
    ptx::wait_for_products<1>();  // the group just issued keeps the unit busy meanwhile
  }
  ptx::wait_for_products<0>();
  ptx::take_sums(c);
  keep_all(c);
#endif
}

// What a loop is: its kernel, the threads of a block, and the FLOP of a block's iteration.
struct Loop {
  void (*kernel)(int) = nullptr;
  int threads = 0;
  double flops = 0;
  std::size_t shared_bytes = 0;  // that its code has, where it has any
};

Loop loop_of(const MmaRoof& roof) {
  constexpr double kFma = 2.0 * kFmaThreads * (2 * kFmaSteps) * (kFmaSide * kFmaSide);
  constexpr double kTiles = kMmaThreads / 32 * 2 * kMmaRows * kMmaColumns;
  constexpr double kMma16 = kTiles * 2 * 16 * 8 * 16, kMmaTf32 = kTiles * 2 * 16 * 8 * 8;
  constexpr double kWgmma =
      2.0 * (kWgmmaThreads / kWarpgroup) * (2 * kWgmmaDepths) * 64 * kWgmmaColumns * 16;
  switch (roof.unit) {
    case MmaUnit::fma_fp32:
      if (roof.dtype == Dtype::fp32) return {fma_fp32, kFmaThreads, kFma};
      break;
    case MmaUnit::mma_sync:
      if (roof.dtype == Dtype::tf32) return {mma_sync<Tf32>, kMmaThreads, kMmaTf32};
      if (roof.dtype == Dtype::bf16) return {mma_sync<__nv_bfloat16>, kMmaThreads, kMma16};
      if (roof.dtype == Dtype::fp16) return {mma_sync<__half>, kMmaThreads, kMma16};
      break;
    case MmaUnit::wgmma:
      if (roof.dtype == Dtype::bf16) {
        return {wgmma<__nv_bfloat16>, kWgmmaThreads, kWgmma, kWgmmaBytesB};
      }
      if (roof.dtype == Dtype::fp16) return {wgmma<__half>, kWgmmaThreads, kWgmma, kWgmmaBytesB};
      break;
  }
  return {};
}

bool has(const Loop& loop) {
  if (loop.kernel == nullptr) return false;
  cudaFuncAttributes attributes;
  const bool found = cudaFuncGetAttributes(&attributes, loop.kernel) == cudaSuccess;
  cudaGetLastError();
  return found && attributes.sharedSizeBytes >= loop.shared_bytes;
}

constexpr std::size_t kPiece = sizeof(uint4);
bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % kPiece == 0;
}

}  // namespace

RoofGrid best_grid(int multiprocessors) {
  // 128 KiB in flight on each multiprocessor, where 4.8 TB/s and a latency of 1 us need 36.
  return {2 * static_cast<unsigned>(multiprocessors), 512};
}

cudaError_t launch_empty(RoofGrid grid, std::size_t shared_bytes, cudaStream_t stream) {
  constexpr std::size_t kAlwaysAllowed = 48 * 1024;
  if (shared_bytes > kAlwaysAllowed) {
    const cudaError_t error = cudaFuncSetAttribute(
        empty, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes));
    if (error != cudaSuccess) return error;
  }
  empty<<<grid.blocks, grid.threads, shared_bytes, stream>>>();
  return cudaGetLastError();
}

cudaError_t launch_read(const void* from, std::size_t bytes, RoofGrid grid, cudaStream_t stream) {
  if (!is_aligned(from)) return cudaErrorInvalidValue;
  read<<<grid.blocks, grid.threads, 0, stream>>>(static_cast<const uint4*>(from), bytes / kPiece);
  return cudaGetLastError();
}

cudaError_t launch_copy(void* to, const void* from, std::size_t bytes, RoofGrid grid,
                        cudaStream_t stream) {
  if (!is_aligned(to) || !is_aligned(from)) return cudaErrorInvalidValue;
  copy<<<grid.blocks, grid.threads, 0, stream>>>(static_cast<uint4*>(to),
                                                 static_cast<const uint4*>(from), bytes / kPiece);
  return cudaGetLastError();
}

std::string_view name(MmaUnit unit) {
  switch (unit) {
    case MmaUnit::fma_fp32:
      return "fma";
    case MmaUnit::mma_sync:
      return "mma.sync";
    case MmaUnit::wgmma:
      return "wgmma";
  }
  return "";
}

bool has(const MmaRoof& roof) {
  return has(loop_of(roof));
}

double mma_flops(const MmaRoof& roof, int iterations, int multiprocessors) {
  return loop_of(roof).flops * iterations * multiprocessors;
}

cudaError_t launch_mma(const MmaRoof& roof, int iterations, int multiprocessors,
                       cudaStream_t stream) {
  const Loop loop = loop_of(roof);
  if (!has(loop)) return cudaErrorNotSupported;
  loop.kernel<<<multiprocessors, loop.threads, 0, stream>>>(iterations);
  return cudaGetLastError();
}

}  // namespace swa
