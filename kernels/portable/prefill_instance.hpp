// What a translation unit of one instance defines, and the host's table of instances declares.
#pragma once

#include "kernels/portable/prefill_launch.hpp"

namespace swa::portable {

struct Bf16 {};
struct Fp16 {};

template <class Element, int kHeadDim, int kHeadDimV>
cudaError_t launch_prefill_instance(const PrefillCall& call, PrefillVariant variant,
                                    cudaStream_t stream);

}  // namespace swa::portable
