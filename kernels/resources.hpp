// What the GPU kernels of this build need of a GPU, as nvcc compiled them. No GPU is asked.
#pragma once

#include <string>
#include <vector>

#include "tensor/dtype.hpp"

namespace swa {

// One instance of a kernel, compiled for one GPU.
struct Resources {
  std::string kernel;   // as `swa verify --kernel` names it, such as portable-prefill
  std::string variant;  // plain or general scores, or a planted fault
  std::string arch;     // such as sm_90a
  Dtype dtype = Dtype::bf16;
  int head_dim = 0, head_dim_v = 0;       // 0: any; of fp32 and tf32 at most so many
  int BM = 0, BN = 0;                     // of the tile; 0: no tile
  int threads = 0;                        // of a block
  int registers = 0;                      // of a thread
  int spill_stores = 0, spill_loads = 0;  // bytes that the code of a thread names
  int smem_bytes = 0;                     // of a block, static and dynamic
  bool one_by_one = false;                // products of warpgroups wait for each other
  // Instructions as PTX spells them, without operands; each once, sorted.
  std::vector<std::string> mma;     // multiply matrices
  std::vector<std::string> copies;  // ldmatrix, cp.async and their like
  // How many mma.sync belong to Q K^T, to P V, and to neither as far as the PTX tells.
  int mma_scores = 0, mma_values = 0, mma_unknown = 0;

  int spill_bytes() const { return spill_stores + spill_loads; }
};

// All instances of this build, in the order of kernel, dtype, head dims, variant and GPU; empty in
// a build without CUDA.
std::vector<Resources> kernel_resources();

// Shape and types of an MMA instruction: "m16n8k16.f32.bf16.bf16.f32".
std::string mma_shape(const std::string& instruction);

}  // namespace swa
