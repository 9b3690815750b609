// Matrix instructions of a warpgroup, four warps from a multiple of four on (sm_90a alone): 16-bit
// operands, sums in fp32. They run beside the threads that issue them:
//
//   fence_products();              registers written so far are theirs
//   multiply_add_64x256(...);      as many as wanted; those on the same sums follow one another
//   commit_products();
//   wait_for_products<0>();        A's registers and B's memory may be written
//   take_sums(c);                  the sums may be read
//
// All warps of the warpgroup execute each of them, all lanes. Code that touches the sums or A
// between the first and the last makes ptxas run the products one by one. It says so in its output,
// C7510 to C7520, as information only, which no option makes an error: look for it with -Xptxas -v.
//
// Fragments of a lane, with w its warp of the warpgroup, g = lane / 4 and t = lane % 4:
//   A 64 x 16:  that of mma.cuh for rows 16w to 16w + 15
//   C 64 x N:   c[4j], c[4j + 1] row 16w + g, columns 8j + 2t, 8j + 2t + 1;
//               c[4j + 2], c[4j + 3] row 16w + g + 8
// B lies in shared memory, as a descriptor says.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/ptx/mma.cuh"

namespace swa::ptx {

// What this thread wrote to shared memory is seen by products that are issued after a barrier.
__device__ inline void show_to_products() {
  asm volatile("fence.proxy.async.shared::cta;\n" ::: "memory");
}

__device__ inline void fence_products() {
  asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory");
}

// Ends a group of products.
__device__ inline void commit_products() {
  asm volatile("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}

// Waits until at most the `kPending` newest groups are under way.
template <int kPending>
__device__ inline void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;\n" ::"n"(kPending) : "memory");
}

// Keeps what reads the sums behind the wait: nothing else tells the compiler that it writes them.
template <int kSums>
__device__ inline void take_sums(float (&c)[kSums]) {
  for (float& sum : c) asm volatile("" : "+f"(sum)::"memory");
}

using MatrixDescriptor = std::uint64_t;

// B, N x 16, of a matrix with 64 elements of k in a row of 128 bytes. Row n is 128n bytes after
// `address`, a multiple of 1024; its 16-byte piece i lies at place i ^ (n % 8) of the row (the
// 128-byte swizzle). The 16 elements of k that follow are kNextDepth further on.
__device__ inline MatrixDescriptor swizzled_rows(std::uint32_t address) {
  constexpr MatrixDescriptor kGroup = 1024 / 16;  // from 8 rows to the next 8
  constexpr MatrixDescriptor kUnused = 1;         // the other distance: one swizzled row holds k
  constexpr MatrixDescriptor kSwizzle128Bytes = 1;
  return (address & 0x3FFFF) >> 4 | kUnused << 16 | kGroup << 32 | kSwizzle128Bytes << 62;
}
constexpr MatrixDescriptor kNextDepth = 32 / 16;

// clang-format off
#define SWA_SUMS_8(i) "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]),                 \
                      "+f"(c[i + 4]), "+f"(c[i + 5]), "+f"(c[i + 6]), "+f"(c[i + 7])
#define SWA_SUMS_32(i) SWA_SUMS_8(i), SWA_SUMS_8(i + 8), SWA_SUMS_8(i + 16), SWA_SUMS_8(i + 24)
#define SWA_MULTIPLY_ADD_64X256(type)                                                             \
  asm volatile(                                                                                   \
      "{.reg .pred accumulate;\n"                                                                 \
      "setp.ne.b32 accumulate, 1, 0;\n"                                                           \
      "wgmma.mma_async.sync.aligned.m64n256k16.f32." type "." type "\n"                           \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                   \
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "          \
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "          \
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "          \
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "          \
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "          \
      "%96, %97, %98, %99, %100, %101, %102, %103, "                                              \
      "%104, %105, %106, %107, %108, %109, %110, %111, "                                          \
      "%112, %113, %114, %115, %116, %117, %118, %119, "                                          \
      "%120, %121, %122, %123, %124, %125, %126, %127}, "                                         \
      "{%128, %129, %130, %131}, %132, accumulate, 1, 1, 0;}\n"                                   \
      : SWA_SUMS_32(0), SWA_SUMS_32(32), SWA_SUMS_32(64), SWA_SUMS_32(96)                         \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b))
// clang-format on

// C += A B', 64 x 256 sums of 16 products, b as swizzled_rows() tells.
__device__ inline void multiply_add_64x256(float (&c)[128], const Fragment (&a)[4],
                                           MatrixDescriptor b, __nv_bfloat16 /*element*/) {
  SWA_MULTIPLY_ADD_64X256("bf16");
}
__device__ inline void multiply_add_64x256(float (&c)[128], const Fragment (&a)[4],
                                           MatrixDescriptor b, __half /*element*/) {
  SWA_MULTIPLY_ADD_64X256("f16");
}

#undef SWA_MULTIPLY_ADD_64X256
#undef SWA_SUMS_32
#undef SWA_SUMS_8

}  // namespace swa::ptx
