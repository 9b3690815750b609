#include "kernels/portable/launch.hpp"

#include <cstddef>
#include <utility>

#include "kernels/portable/instances.hpp"

namespace swa::portable {
namespace {

// Calls `use` with 0 to kCount - 1 as template argument.
template <std::size_t kCount, class Use>
void for_each_index(Use use) {
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (use.template operator()<i>(), ...);
  }
  (std::make_index_sequence<kCount>());
}

// Calls `launch` with the element type and, of the table's head dims, those of the call.
template <const auto& kTable, class Launch>
cudaError_t find_instance(const ForwardParams& p, Dtype dtype, Launch launch) {
  cudaError_t error = cudaErrorInvalidValue;
  const auto try_one = [&]<std::size_t i>() {
    constexpr int kHeadDim = kTable[i].head_dim, kHeadDimV = kTable[i].head_dim_v;
    if (p.head_dim != kHeadDim || p.head_dim_v != kHeadDimV) return;
    if (dtype == Dtype::bf16) error = launch.template operator()<Bf16, kHeadDim, kHeadDimV>();
    if (dtype == Dtype::fp16) error = launch.template operator()<Fp16, kHeadDim, kHeadDimV>();
  };
  for_each_index<kTable.size()>(try_one);
  return error;
}

}  // namespace

cudaError_t launch_prefill(const PrefillCall& call, Dtype dtype, PrefillVariant variant,
                           cudaStream_t stream) {
  return find_instance<kPrefillTiles>(
      call.params, dtype, [&]<class Element, int kHeadDim, int kHeadDimV>() {
        return launch_prefill_of<Element, kHeadDim, kHeadDimV>(call, variant, stream);
      });
}

cudaError_t launch_planted(const PrefillCall& call, Planted planted, cudaStream_t stream) {
  cudaError_t error = cudaErrorInvalidValue;
  const auto try_one = [&]<std::size_t i>() {
    constexpr int kHeadDim = kPlantedHeadDims[i];
    if (call.params.head_dim != kHeadDim || call.params.head_dim_v != kHeadDim) return;
    error = launch_planted_of<Bf16, kHeadDim, kHeadDim>(call, planted, stream);
  };
  for_each_index<kPlantedHeadDims.size()>(try_one);
  return error;
}

cudaError_t launch_decode(const DecodeCall& call, Dtype dtype, Scores scores, cudaStream_t stream) {
  return find_instance<kDecodeTiles>(
      call.params, dtype, [&]<class Element, int kHeadDim, int kHeadDimV>() {
        return launch_decode_of<Element, kHeadDim, kHeadDimV>(call, scores, stream);
      });
}

}  // namespace swa::portable
