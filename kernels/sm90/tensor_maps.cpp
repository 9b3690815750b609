#include "kernels/sm90/tensor_maps.hpp"

#include <cudaTypedefs.h>

namespace swa::sm90 {
namespace {

// The driver's function, found at run time: swa is not linked against the driver, and starts
// without one.
PFN_cuTensorMapEncodeTiled_v12000 encode_function() {
  static const PFN_cuTensorMapEncodeTiled_v12000 kFunction = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function,
                                                               12000, cudaEnableDefault, &result);
#else
    const cudaError_t error =
        cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &result);
#endif
    if (error != cudaSuccess || result != cudaDriverEntryPointSuccess) function = nullptr;
    return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
  }();
  return kFunction;
}

}  // namespace

cudaError_t map_tensor(const MappedTensor& t, MapBox box, Dtype dtype, CUtensorMap& map) {
  const auto encode = encode_function();
  if (encode == nullptr) return cudaErrorNotSupported;
  constexpr int kDims = 5;
  const auto size = [](Index count) { return static_cast<cuuint64_t>(count); };
  const auto bytes = [](Index elements) { return static_cast<cuuint64_t>(2 * elements); };
  // Where there is one entry only, its stride is not looked at, but has to be one.
  const Index batch_stride = t.entries == 1 ? 8 : t.strides.batch;
  const cuuint64_t sizes[kDims] = {size(t.head_dim), size(t.group), size(t.heads_kv),
                                   size(t.tokens), size(t.entries)};
  const cuuint64_t strides[kDims - 1] = {bytes(t.strides.head), bytes(t.strides.head * t.group),
                                         bytes(t.strides.token), bytes(batch_stride)};
  const cuuint32_t boxes[kDims] = {64, static_cast<cuuint32_t>(box.heads), 1,
                                   static_cast<cuuint32_t>(box.tokens), 1};
  const cuuint32_t steps[kDims] = {1, 1, 1, 1, 1};
  const CUresult result = encode(
      &map,
      dtype == Dtype::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
      kDims, const_cast<void*>(t.data), sizes, strides, boxes, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace swa::sm90
