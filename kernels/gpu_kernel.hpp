// A kernel of this room, before it is dressed for verify or bench. Private to the room.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/device/buffer.hpp"
#include "kernels/launch/gpus.hpp"
#include "kernels/params.h"
#include "problem/problem.hpp"
#include "tiles/tiles.hpp"
#include "verify/tolerance.hpp"

namespace swa {

// Memory of a launch besides its tensors.
using Workspace = std::vector<device::Buffer>;

using GpuLaunch = std::function<cudaError_t(const ForwardParams&, cudaStream_t)>;

struct GpuKernel {
  std::string name;
  SumRuns sums;                                        // as in Kernel
  Index granule = 1;                                   // in keys
  std::function<TileShape(const Problem&)> tile = {};  // as in Kernel
  std::function<std::optional<std::string>(const Problem&)> unsupported;
  // Plans the problem and allocates what a launch needs besides tensors. The launches may be called
  // again and again, one at a time, while the workspace lives; nothing is allocated in them.
  std::function<GpuLaunch(const Problem&, Workspace&)> prepare;
  // Pairs that its tiles compute, hidden ones and idle rows included, over all heads and sequences.
  std::function<double(const Problem&)> issued_pairs;
  bool for_use = true;  // false: it is there to be compared with
  // The unit that its products run on, a name of mma_units(); empty where there is no such unit.
  std::string_view (*mma)(Dtype) = nullptr;
};

// The GPU that they run on; there has to be one.
const GpuModel& this_gpu();

const std::vector<GpuKernel>& all_gpu_kernels();
// The one of that name; there has to be one.
const GpuKernel& gpu_kernel(const std::string& name);
// Those of launch/planted.hpp.
const std::vector<GpuKernel>& all_planted_gpu_kernels();

}  // namespace swa
