// What the kernels would do with a problem, for people: no GPU and no compiled kernel is
// needed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/launch/gpus.hpp"
#include "problem/problem.hpp"
#include "tiles/counts.hpp"

namespace swa {

struct LaunchPlan {
  std::string kernel;
  std::optional<std::string> unsupported;  // why not; the rest is 0 then
  std::string reason;              // why the tile, the packing and the splits are as they are
  Index BM = 0, BN = 0;            // rows of packed heads, and keys
  Index heads = 0, positions = 0;  // of a query tile
  Index blocks = 0, threads = 0, smem_bytes = 0, splits = 0;
  TileCounts tiles;         // of `packed` heads, over all sequences; none where keeps_band
  Index packed = 0;         // heads whose rows lie in the same tiles
  double issued_pairs = 0;  // over all heads and sequences
  // Whether the band stays in shared memory: the kernel walks over no key tiles.
  bool keeps_band = false;
};

// Of portable-prefill, portable-mask-only, portable-decode and sm90-band.
std::vector<LaunchPlan> launch_plans(const Problem& problem, const GpuModel& gpu);

}  // namespace swa
