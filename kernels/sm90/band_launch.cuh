// Starts an instance of the band kernel.
#pragma once

#include "kernels/portable/elements.cuh"
#include "kernels/sm90/band.cuh"
#include "kernels/sm90/instances.hpp"

namespace swa::sm90 {

template <class Tag, int kTile>
cudaError_t launch_band_of(const BandCall& call, const BandMaps& maps, cudaStream_t stream) {
  using Config = Band<typename portable::ElementOf<Tag>::type, kTile>;
  const int bytes = Config::kBand.smem_bytes(call.slots, call.query_stages);
  const cudaError_t error =
      cudaFuncSetAttribute(band<Config>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (error != cudaSuccess) return error;
  band<Config><<<call.blocks, Config::kBand.threads(), bytes, stream>>>(call, maps);
  return cudaGetLastError();
}

}  // namespace swa::sm90
