#include "kernels/portable/prefill_launch.hpp"

#include <cstddef>
#include <utility>

#include "kernels/portable/prefill_instance.hpp"

namespace swa::portable {
namespace {

template <class Element, std::size_t... i>
cudaError_t launch_among(const PrefillCall& call, PrefillVariant variant, cudaStream_t stream,
                         std::index_sequence<i...>) {
  cudaError_t error = cudaErrorInvalidValue;
  const auto try_one = [&]<int kHeadDim, int kHeadDimV>() {
    if (call.params.head_dim != kHeadDim || call.params.head_dim_v != kHeadDimV) return;
    error = launch_prefill_instance<Element, kHeadDim, kHeadDimV>(call, variant, stream);
  };
  (try_one.template operator()<kPrefillTiles[i].head_dim, kPrefillTiles[i].head_dim_v>(), ...);
  return error;
}

}  // namespace

cudaError_t launch_prefill(const PrefillCall& call, Dtype dtype, PrefillVariant variant,
                           cudaStream_t stream) {
  constexpr auto kAll = std::make_index_sequence<kPrefillTiles.size()>();
  if (dtype == Dtype::bf16) return launch_among<Bf16>(call, variant, stream, kAll);
  if (dtype == Dtype::fp16) return launch_among<Fp16>(call, variant, stream, kAll);
  return cudaErrorInvalidValue;
}

}  // namespace swa::portable
