// What the translation units of the instances define, and the host's tables of them declare.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/launch/decode_call.hpp"
#include "kernels/launch/prefill_call.hpp"

namespace swa::portable {

// Element types, for a host that has no names for them.
struct Bf16 {};
struct Fp16 {};

template <class Element, int kHeadDim, int kHeadDimV>
cudaError_t launch_prefill_of(const PrefillCall& call, PrefillVariant variant, cudaStream_t stream);

// For Bf16 and kPlantedHeadDims only.
template <class Element, int kHeadDim, int kHeadDimV>
cudaError_t launch_planted_of(const PrefillCall& call, Planted planted, cudaStream_t stream);

template <class Element, int kHeadDim, int kHeadDimV>
cudaError_t launch_decode_of(const DecodeCall& call, Scores scores, cudaStream_t stream);

}  // namespace swa::portable
