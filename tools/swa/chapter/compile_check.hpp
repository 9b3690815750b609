// The chapter's compile check (Case 3): its Triton kernel for sm_90, beside the kernel here that is
// nearest to it.
#pragma once

#include <string>
#include <vector>

#include "kernels/resources.hpp"

namespace swa::chapter {

// One compilation of the chapter's kernel: head_dim 128, bf16.
struct CompiledTile {
  int BM = 0, BN = 0;
  int smem_bytes = 0;
  std::string scores, values;  // wgmma of Q K^T and of P V
};
const std::vector<CompiledTile>& compiled_tiles();

// The instance of the window-bounded kernel for the chapter's problem whose tile is nearest,
// compiled for the chapter's GPU where there is such a one; null where no GPU has one.
const Resources* nearest(const std::vector<Resources>& instances, const CompiledTile& tile);

// Its instructions that multiply matrices, as "mma.sync m16n8k16.f32.bf16.bf16.f32".
std::string mma_words(const Resources& instance);

// Why the figures of the two kernels differ, in lines; no compiled kernel is needed.
std::vector<std::string> why_shared_memory_differs();
std::vector<std::string> why_mma_differs();

}  // namespace swa::chapter
