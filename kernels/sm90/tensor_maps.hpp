// Tensors of a call as the tensor memory accelerator knows them.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "kernels/params.h"
#include "tensor/dtype.hpp"

namespace swa::sm90 {

// A 16-bit tensor whose query heads are taken as [heads_kv, group]: dims are head_dim, group,
// heads_kv, tokens, entries, innermost first. For k and v the group is 1.
struct MappedTensor {
  const void* data = nullptr;
  Strides strides;
  Index head_dim = 0, group = 1, heads_kv = 0, tokens = 0, entries = 1;
};
// What a copy takes: 64 columns of so many heads of a group, at so many tokens. In shared memory a
// row has 128 bytes, rows are ordered by token, then head, and their pieces of 16 bytes are
// swizzled: see ptx/wgmma.cuh.
struct MapBox {
  int heads = 1, tokens = 1;
};

// cudaErrorInvalidValue where the tensor does not begin, or step, at multiples of 16 bytes.
cudaError_t map_tensor(const MappedTensor& tensor, MapBox box, Dtype dtype, CUtensorMap& map);

}  // namespace swa::sm90
