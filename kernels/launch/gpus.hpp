// What a plan has to know of a GPU.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace swa {

struct GpuModel {
  std::string_view arch;     // as nvcc names it, without the `a` of arch-specific features
  std::string_view devices;  // that have the numbers below
  int multiprocessors = 0;
  int shared_per_block = 0;  // bytes, at most
};

// Why a block cannot have so many bytes there.
std::optional<std::string> too_much_shared_memory(std::int64_t bytes, const GpuModel& gpu);

// Of each compute capability a GPU that serves models, with what NVIDIA's data sheets and the table
// of compute capabilities in the CUDA programming guide say of it.
inline constexpr std::array kGpuModels{
    GpuModel{"sm_80", "A100", 108, 163 * 1024},
    GpuModel{"sm_86", "A40, RTX A6000", 84, 99 * 1024},
    GpuModel{"sm_89", "L40S", 142, 99 * 1024},
    GpuModel{"sm_90", "H100, H200", 132, 227 * 1024},
    GpuModel{"sm_100", "B200", 148, 227 * 1024},
    GpuModel{"sm_120", "RTX PRO 6000 Blackwell", 188, 99 * 1024},
};
inline constexpr GpuModel kHopper = kGpuModels[3];
static_assert(kHopper.arch == "sm_90");

}  // namespace swa
