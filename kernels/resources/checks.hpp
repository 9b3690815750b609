// What must hold of the compiled instances: the chapter's compile check of Case 3, for the kernels
// here.
#pragma once

#include <string>
#include <vector>

#include "kernels/resources.hpp"

namespace swa {

struct ResourceCheck {
  bool holds = false;
  std::string check;    // "fp32 sums", "as mask-only", "side by side" or "described"
  Resources instance;   // the one that is judged
  std::string figures;  // in words
};

// fp32 sums: each MMA of an instance of portable-* is an mma.sync that adds up in fp32, and both
//   Q K^T and P V have some.
// as mask-only: an instance of portable-prefill has as much shared memory, and the same MMA and
//   copy instructions, as that of portable-mask-only with the same tile, which leaves the window to
//   the mask. One without such a partner is a violation, too.
// side by side: the products of an instance of sm90-* are those of warpgroups, add up in fp32, and
//   ptxas lets them run beside the threads that start them.
// described: an instance that no kernel's description fits is a violation, and said to be one.
std::vector<ResourceCheck> check_resources(const std::vector<Resources>& instances);

}  // namespace swa
