#include "kernels/sm90/launch.hpp"

#include <cstddef>
#include <utility>

#include "kernels/sm90/instances.hpp"
#include "kernels/sm90/tensor_maps.hpp"

namespace swa::sm90 {
namespace {

cudaError_t make_maps(const BandPlan& plan, const BandCall& call, Index tokens_q, Index entries,
                      Dtype dtype, BandMaps& maps) {
  const ForwardParams& p = call.params;
  const Index group = p.heads_q / p.heads_kv;
  // Without a key there is nothing to map, and nothing is loaded: any tensor does.
  const bool keys_exist = call.tokens_k > 0;
  const Index tokens_k = keys_exist ? call.tokens_k : 1;
  const MappedTensor q{p.q, p.q_strides, p.head_dim, group, p.heads_kv, tokens_q, entries};
  const MappedTensor k{
      keys_exist ? p.k : p.q, p.k_strides, p.head_dim, 1, p.heads_kv, tokens_k, entries};
  const MappedTensor v{
      keys_exist ? p.v : p.q, p.v_strides, p.head_dim, 1, p.heads_kv, tokens_k, entries};
  const MappedTensor out{p.out, p.out_strides, p.head_dim, group, p.heads_kv, tokens_q, entries};
  const MapBox keys{1, plan.tile.entry};
  const MapBox tile{plan.heads, plan.positions};
  const MapBox warp{plan.heads < 16 ? plan.heads : 16, 16 / plan.heads};
  cudaError_t error = map_tensor(q, tile, dtype, maps.q);
  if (error == cudaSuccess) error = map_tensor(k, keys, dtype, maps.k);
  if (error == cudaSuccess) error = map_tensor(v, keys, dtype, maps.v);
  if (error == cudaSuccess) error = map_tensor(out, warp, dtype, maps.out);
  return error;
}

template <class Element, std::size_t... tiles>
cudaError_t launch_tile(int tile, const BandCall& call, const BandMaps& maps, cudaStream_t stream,
                        std::index_sequence<tiles...>) {
  cudaError_t error = cudaErrorInvalidValue;
  ((tile == static_cast<int>(tiles)
        ? static_cast<void>(error = launch_band_of<Element, tiles>(call, maps, stream))
        : static_cast<void>(0)),
   ...);
  return error;
}

}  // namespace

bool compiled() {
  return true;
}

cudaError_t launch_band(const BandPlan& plan, const BandCall& call, Index tokens_q, Index entries,
                        Dtype dtype, cudaStream_t stream) {
  BandMaps maps;
  const cudaError_t error = make_maps(plan, call, tokens_q, entries, dtype, maps);
  if (error != cudaSuccess) return error;
  const auto all = std::make_index_sequence<kBandTiles.size()>();
  if (dtype == Dtype::bf16) return launch_tile<Bf16>(plan.instance, call, maps, stream, all);
  if (dtype == Dtype::fp16) return launch_tile<Fp16>(plan.instance, call, maps, stream, all);
  return cudaErrorInvalidValue;
}

}  // namespace swa::sm90
