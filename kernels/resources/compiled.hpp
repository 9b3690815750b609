// What nvcc says of the kernels that it compiles: their PTX, and the report of `ptxas -v`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace swa {

// One kernel, compiled for one GPU.
struct CompiledKernel {
  std::string entry;                      // its mangled name
  std::string arch;                       // such as sm_90a
  int registers = 0;                      // of a thread
  int spill_stores = 0, spill_loads = 0;  // bytes that the code of a thread names
  int static_smem = 0;                    // bytes of a block
  bool one_by_one = false;                // ptxas runs products of warpgroups one after the other
  // Instructions as PTX spells them, without operands; each once, sorted.
  std::vector<std::string> mma;     // multiply matrices
  std::vector<std::string> copies;  // move them: ldmatrix, cp.async and their like
  // How many mma.sync there are, by the way in which ldmatrix loaded their second factor: as it
  // lies (rows of K: Q K^T), transposed (rows of V: P V), or neither.
  int mma_plain = 0, mma_transposed = 0, mma_other = 0;
};

// The kernels of one source. `ptx` holds a text for each architecture; `report` is what ptxas said
// of all. A text that no report follows is PTX for later GPUs, and left out. Throws
// std::runtime_error where the report has a kernel that no PTX has, or none at all, and where a
// function that is no kernel has such instructions.
std::vector<CompiledKernel> compiled_kernels_of(const std::vector<std::string>& ptx,
                                                std::string_view report);

// Those of this build; empty without CUDA. Written by resources/table.cpp.
std::vector<CompiledKernel> compiled_kernels();

}  // namespace swa
