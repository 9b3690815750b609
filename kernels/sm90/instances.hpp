// What the translation units of the instances define, and the host's table of them declares.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/portable/instances.hpp"
#include "kernels/sm90/band_call.hpp"

namespace swa::sm90 {

using portable::Bf16;
using portable::Fp16;

// Of tile kTile of kBandTiles.
template <class Element, int kTile>
cudaError_t launch_band_of(const BandCall& call, const BandMaps& maps, cudaStream_t stream);

}  // namespace swa::sm90
