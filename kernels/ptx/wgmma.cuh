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

// x, which is the same in all lanes, in a register of the whole warp: a reduction leaves it there.
// Descriptors are read from such registers, and what is computed from x is then computed there,
// too.
__device__ inline int uniform(int x) {
  return static_cast<int>(__reduce_or_sync(~0U, static_cast<unsigned>(x)));
}

using MatrixDescriptor = std::uint64_t;

// B, N x 16, of a matrix with 64 elements of k in a row of 128 bytes. Row n is 128n bytes after
// `address`, a multiple of 1024; its 16-byte piece i lies at place i ^ (n % 8) of the row (the
// 128-byte swizzle). The 16 elements of k that follow are kNextDepth further on. A, where it lies
// in shared memory, likewise.
__device__ inline MatrixDescriptor swizzled_rows(std::uint32_t address) {
  constexpr MatrixDescriptor kGroup = 1024 / 16;  // from 8 rows to the next 8
  constexpr MatrixDescriptor kUnused = 1;         // the other distance: one swizzled row holds k
  constexpr MatrixDescriptor kSwizzle128Bytes = 1;
  return (address & 0x3FFFF) >> 4 | kUnused << 16 | kGroup << 32 | kSwizzle128Bytes << 62;
}
constexpr MatrixDescriptor kNextDepth = 32 / 16;

// B, 16 x N, whose rows of 64 elements lie as above: 8 rows of k, and `group` bytes after them the
// 8 others (0: the same once more). Columns from the 65th on lie `columns` bytes after the
// first 64. A word of its own tells these places.
__device__ inline std::uint32_t place_of_columns(std::uint32_t address, std::uint32_t columns) {
  return address >> 4 | columns >> 4 << 16;
}
__device__ inline MatrixDescriptor swizzled_columns(std::uint32_t place, std::uint32_t group) {
  constexpr std::uint32_t kSwizzle128Bytes = 1U << 30;
  MatrixDescriptor descriptor;
  asm("mov.b64 %0, {%1, %2};\n"
      : "=l"(descriptor)
      : "r"(place), "r"(group >> 4 | kSwizzle128Bytes));
  return descriptor;
}
// From 16 rows to the next: with columns that follow at the same distance, and with those that stay
// where they are.
constexpr std::uint32_t kNextRows = 2048 >> 4;
constexpr std::uint32_t kNextRowsAlone = kNextRows - (kNextRows << 16);

// clang-format off
#define SWA_SUMS_4(i) "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3])
#define SWA_SUMS_16(i) SWA_SUMS_4(i), SWA_SUMS_4(i + 4), SWA_SUMS_4(i + 8), SWA_SUMS_4(i + 12)
#define SWA_SUMS_36 SWA_SUMS_16(0), SWA_SUMS_16(16), SWA_SUMS_4(32)
#define SWA_SUMS_52 SWA_SUMS_16(0), SWA_SUMS_16(16), SWA_SUMS_16(32), SWA_SUMS_4(48)
#define SWA_SUMS_64 SWA_SUMS_16(0), SWA_SUMS_16(16), SWA_SUMS_16(32), SWA_SUMS_16(48)
#define SWA_SUMS_68 SWA_SUMS_64, SWA_SUMS_4(64)
#define SWA_SUMS_128 SWA_SUMS_64, SWA_SUMS_16(64), SWA_SUMS_16(80), SWA_SUMS_16(96), SWA_SUMS_16(112)
#define SWA_NAMES_36                                                                              \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "    \
  "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35"
#define SWA_NAMES_52                                                                              \
  SWA_NAMES_36 ", %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51"
#define SWA_NAMES_64                                                                              \
  SWA_NAMES_52 ", %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define SWA_NAMES_68 SWA_NAMES_64 ", %64, %65, %66, %67"
#define SWA_NAMES_128                                                                             \
  SWA_NAMES_68 ", %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, "    \
  "%83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99, %100, "   \
  "%101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, "    \
  "%116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
// `sums` registers of c and their number after them; b_major 0: rows of k, 1: columns.
#define SWA_PRODUCT_OF_REGISTERS(n, sums, a0, a1, a2, a3, of_b, add, type, b_major)               \
  asm volatile(                                                                                   \
      "{.reg .pred accumulate;\n"                                                                 \
      "setp.ne.b32 accumulate, " add ", 0;\n"                                                     \
      "wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type "\n"                         \
      "{" SWA_NAMES_##sums "}, {" a0 ", " a1 ", " a2 ", " a3 "}, " of_b                           \
      ", accumulate, 1, 1, " b_major ";}\n"                                                       \
      : SWA_SUMS_##sums                                                                           \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate))
#define SWA_PRODUCT_OF_MEMORY(n, sums, of_a, of_b, add, type)                                     \
  asm volatile(                                                                                   \
      "{.reg .pred accumulate;\n"                                                                 \
      "setp.ne.b32 accumulate, " add ", 0;\n"                                                     \
      "wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type "\n"                         \
      "{" SWA_NAMES_##sums "}, " of_a ", " of_b ", accumulate, 1, 1, 0, 0;}\n"                    \
      : SWA_SUMS_##sums                                                                           \
      : "l"(a), "l"(b), "r"(accumulate))
// clang-format on

// C += A B', 64 x 256 sums of 16 products, b as swizzled_rows() tells.
#define SWA_MULTIPLY_64X256(Element, type)                                                     \
  __device__ inline void multiply_add_64x256(float(&c)[128], const Fragment(&a)[4],            \
                                             MatrixDescriptor b, Element) {                    \
    constexpr int accumulate = 1;                                                              \
    SWA_PRODUCT_OF_REGISTERS("256", 128, "%128", "%129", "%130", "%131", "%132", "%133", type, \
                             "0");                                                             \
  }
SWA_MULTIPLY_64X256(__nv_bfloat16, "bf16")
SWA_MULTIPLY_64X256(__half, "f16")

// C = A B', or C += A B' where `accumulate`: 64 x 2 kSums of 16 products, both factors as
// swizzled_rows() tells.
#define SWA_MULTIPLY_ROWS(Element, type)                                                         \
  template <int kSums>                                                                           \
  __device__ inline void multiply_rows(float(&c)[kSums], MatrixDescriptor a, MatrixDescriptor b, \
                                       int accumulate, Element) {                                \
    if constexpr (kSums == 36) SWA_PRODUCT_OF_MEMORY("72", 36, "%36", "%37", "%38", type);       \
    if constexpr (kSums == 52) SWA_PRODUCT_OF_MEMORY("104", 52, "%52", "%53", "%54", type);      \
    if constexpr (kSums == 68) SWA_PRODUCT_OF_MEMORY("136", 68, "%68", "%69", "%70", type);      \
    static_assert(kSums == 36 || kSums == 52 || kSums == 68);                                    \
  }
SWA_MULTIPLY_ROWS(__nv_bfloat16, "bf16")
SWA_MULTIPLY_ROWS(__half, "f16")

// The same with A in registers and b as swizzled_columns() tells.
#define SWA_MULTIPLY_COLUMNS(Element, type)                                                     \
  template <int kSums>                                                                          \
  __device__ inline void multiply_columns(float(&c)[kSums], const Fragment(&a)[4],              \
                                          MatrixDescriptor b, int accumulate, Element) {        \
    if constexpr (kSums == 36) {                                                                \
      SWA_PRODUCT_OF_REGISTERS("72", 36, "%36", "%37", "%38", "%39", "%40", "%41", type, "1");  \
    }                                                                                           \
    if constexpr (kSums == 64) {                                                                \
      SWA_PRODUCT_OF_REGISTERS("128", 64, "%64", "%65", "%66", "%67", "%68", "%69", type, "1"); \
    }                                                                                           \
    static_assert(kSums == 36 || kSums == 64);                                                  \
  }
SWA_MULTIPLY_COLUMNS(__nv_bfloat16, "bf16")
SWA_MULTIPLY_COLUMNS(__half, "f16")

#undef SWA_MULTIPLY_COLUMNS
#undef SWA_MULTIPLY_ROWS
#undef SWA_MULTIPLY_64X256
#undef SWA_PRODUCT_OF_MEMORY
#undef SWA_PRODUCT_OF_REGISTERS
#undef SWA_NAMES_128
#undef SWA_NAMES_68
#undef SWA_NAMES_64
#undef SWA_NAMES_52
#undef SWA_NAMES_36
#undef SWA_SUMS_128
#undef SWA_SUMS_68
#undef SWA_SUMS_64
#undef SWA_SUMS_52
#undef SWA_SUMS_36
#undef SWA_SUMS_16
#undef SWA_SUMS_4

}  // namespace swa::ptx
