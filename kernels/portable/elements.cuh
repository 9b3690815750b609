// The element types of the instances.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/portable/instances.hpp"

namespace swa::portable {

template <class Tag>
struct ElementOf;
template <>
struct ElementOf<Bf16> {
  using type = __nv_bfloat16;
};
template <>
struct ElementOf<Fp16> {
  using type = __half;
};

}  // namespace swa::portable
