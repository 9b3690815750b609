// Matrix instructions of one warp (sm_80 and later): 16-bit or TF32 operands, sums in fp32.
//
// Fragments of a lane for 16-bit operands, with g = lane / 4 and t = lane % 4:
//   A 16 x 16: rows g, g + 8; columns 2t, 2t + 1, and 8 more: a[0] (g, 2t), a[1] (g + 8, 2t),
//              a[2] (g, 2t + 8), a[3] (g + 8, 2t + 8)
//   B 16 x 8:  b[0] rows 2t, 2t + 1 and b[1] rows 2t + 8, 2t + 9 of column g
//   C 16 x 8:  c[0], c[1] row g, columns 2t, 2t + 1; c[2], c[3] row g + 8
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace swa::ptx {

using Fragment = std::uint32_t;  // two 16-bit elements, the first in the low half

// Four 8 x 8 matrices; lane l names row l % 8 of matrix l / 8.
__device__ inline void load_matrices(Fragment (&to)[4], std::uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}
__device__ inline void load_matrices_transposed(Fragment (&to)[4], std::uint32_t row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row)
               : "memory");
}

// C += A B.
__device__ inline void multiply_add(float (&c)[4], const Fragment (&a)[4], Fragment b0, Fragment b1,
                                    __nv_bfloat16 /*element*/) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline void multiply_add(float (&c)[4], const Fragment (&a)[4], Fragment b0, Fragment b1,
                                    __half /*element*/) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// x to the nearest number of TF32, ties away from zero.
__device__ inline float round_to_tf32(float x) {
  std::uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;\n" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
}

// C += A B for numbers of TF32 and half as many columns of A: a[0] (g, t), a[1] (g + 8, t),
// a[2] (g, t + 4), a[3] (g + 8, t + 4); b0 row t and b1 row t + 4 of column g.
__device__ inline void multiply_add_tf32(float (&c)[4], const float (&a)[4], float b0, float b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
        "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}

// Two numbers, rounded to nearest, as one fragment.
__device__ inline Fragment pack(float low, float high, __nv_bfloat16 /*element*/) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const Fragment*>(&pair);
}
__device__ inline Fragment pack(float low, float high, __half /*element*/) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const Fragment*>(&pair);
}

// 2^x within 2 units in the last place; 2^-inf = 0.
__device__ inline float exp2_fast(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;\n" : "=f"(power) : "f"(x));
  return power;
}

// Of a normal number: log2 x to 2^-22, and 1 / x within 1 unit in the last place.
__device__ inline float log2_fast(float x) {
  float log;
  asm("lg2.approx.ftz.f32 %0, %1;\n" : "=f"(log) : "f"(x));
  return log;
}
__device__ inline float reciprocal_fast(float x) {
  float reciprocal;
  asm("rcp.approx.ftz.f32 %0, %1;\n" : "=f"(reciprocal) : "f"(x));
  return reciprocal;
}

}  // namespace swa::ptx
