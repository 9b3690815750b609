// The prefill kernel with each of the faults of launch/planted.hpp.
#pragma once

#include "kernels/portable/prefill.cuh"

namespace swa::portable {

template <class Tag, int kHeadDim, int kHeadDimV>
cudaError_t launch_planted_of(const PrefillCall& call, Planted planted, cudaStream_t stream) {
  const auto launch = [&]<Planted kPlanted>() {
    return launch_config<Prefill<typename ElementOf<Tag>::type, kHeadDim, kHeadDimV, Scores::plain,
                                 TileLoop::window, kPlanted>>(call, stream);
  };
  switch (planted) {
    case Planted::nothing:
      break;
    case Planted::no_guard:
      return launch.template operator()<Planted::no_guard>();
    case Planted::one_too_wide:
      return launch.template operator()<Planted::one_too_wide>();
    case Planted::top_left:
      return launch.template operator()<Planted::top_left>();
    case Planted::starts_a_tile_late:
      return launch.template operator()<Planted::starts_a_tile_late>();
    case Planted::first_tile_unmasked:
      return launch.template operator()<Planted::first_tile_unmasked>();
  }
  return cudaErrorInvalidValue;
}

}  // namespace swa::portable
