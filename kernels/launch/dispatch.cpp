#include "kernels/launch/dispatch.hpp"

#include <fmt/format.h>

#include "kernels/launch/band.hpp"
#include "kernels/launch/decode.hpp"
#include "kernels/launch/prefill.hpp"
#include "problem/problem.hpp"

namespace swa {

std::optional<std::string> prefill_refusal(const Problem& p, const GpuModel& gpu) {
  if (auto reason = prefill_unsupported(p)) return reason;
  return too_much_shared_memory(plan_prefill(p).smem_bytes, gpu);
}

std::optional<std::string> decode_refusal(const Problem& p, const GpuModel& gpu) {
  if (auto reason = decode_unsupported(p)) return reason;
  return too_much_shared_memory(decode_tile(p.head_dim, p.value_dim()).smem_bytes(), gpu);
}

Dispatch dispatch(const Problem& p, const GpuModel& gpu) {
  if (!decode_refusal(p, gpu))
    return {"portable-decode", "few queries: each block reads a part of the keys"};
  const auto no_band = band_unsupported(p, gpu);
  if (!no_band) return {"sm90-band", "the window fits into shared memory: each key is loaded once"};
  const auto no_prefill = prefill_refusal(p, gpu);
  if (!no_prefill) return {"portable-prefill", fmt::format("sm90-band {}", *no_band)};
  return {"", fmt::format("portable-prefill {}", *no_prefill)};
}

}  // namespace swa
