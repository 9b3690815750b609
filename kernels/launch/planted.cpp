#include "kernels/launch/planted.hpp"

#include <algorithm>

#include "problem/problem.hpp"

namespace swa {
namespace {

Index rows_of_warp(const Problem& p) {
  return 16 * prefill_tile(p.head_dim, p.value_dim()).fragments();
}

}  // namespace

std::optional<std::string> planted_unsupported(const Problem& p, Planted planted) {
  const bool compiled = std::find(kPlantedHeadDims.begin(), kPlantedHeadDims.end(), p.head_dim) !=
                        kPlantedHeadDims.end();
  if (p.dtype != Dtype::bf16 || !compiled || p.value_dim() != p.head_dim) {
    return "is planted for bf16 with head_dim 64 or 128 only";
  }
  if (p.softcap > 0 || !(p.score_scale() > 0)) {
    return "is planted for scores without softcap and with a positive scale only";
  }
  if (const auto reason = prefill_unsupported(p)) return reason;
  if (planted != Planted::no_guard) return std::nullopt;
  if (p.sinks > 0) {
    return "is planted without sink tokens: they come first here, and rows that see them are safe";
  }
  if (rows_of_warp(p) % plan_prefill(p).heads != 0) {
    return "is planted for groups of heads that divide the rows of a warp";
  }
  return std::nullopt;
}

TileShape planted_tile(const Problem& p, Planted planted) {
  const PrefillPlan plan = plan_prefill(p);
  if (planted != Planted::no_guard) return plan.shape();
  return {rows_of_warp(p) / plan.heads, plan.BN};
}

}  // namespace swa
