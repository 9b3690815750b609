// swa kernels --check: what must hold of the compiled kernels, and the chapter's compile check
// beside them.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "kernels/resources.hpp"

namespace swa::commands {

// One compilation of the chapter's Triton kernel for sm_90, head_dim 128, bf16 (Case 3).
struct ChapterTile {
  int BM = 0, BN = 0;
  int smem_bytes = 0;
  std::string scores, values;  // wgmma of Q K^T and of P V
};
const std::vector<ChapterTile>& chapter_tiles();

// Status 1 where a check does not hold.
cli::Outcome check_kernels(const std::vector<Resources>& instances);

}  // namespace swa::commands
