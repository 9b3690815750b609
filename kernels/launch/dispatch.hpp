// Which kernel a problem goes to: a pure function of the problem and the GPU.
#pragma once

#include <optional>
#include <string>

#include "kernels/launch/gpus.hpp"

namespace swa {

struct Problem;

struct Dispatch {
  std::string kernel;  // empty where none takes the problem
  std::string reason;  // why this one, or none
};

// Of portable-decode, sm90-band and portable-prefill, in this order the first that takes the
// problem: docs/kernels/band.md has the times behind the order.
Dispatch dispatch(const Problem& problem, const GpuModel& gpu);

// Why the portable kernels do not take a problem there; nothing where they do.
std::optional<std::string> prefill_refusal(const Problem& problem, const GpuModel& gpu);
std::optional<std::string> decode_refusal(const Problem& problem, const GpuModel& gpu);

}  // namespace swa
