#include "kernels/resources/checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace swa {
namespace {

using Words = std::vector<std::string>;

// mma.sync spells four types: of the sum, of the factors, and of what it adds to.
bool sums_in_fp32(const std::string& mma) {
  const std::string shape = mma_shape(mma);
  return mma.starts_with("mma.sync.") && std::count(shape.begin(), shape.end(), '.') == 4 &&
         shape.find(".f32.") == shape.find('.') && shape.ends_with(".f32");
}

// Of elements of 4 bytes. Their factors are not loaded by ldmatrix, which tells the products apart.
ResourceCheck check_wide_sums(const Resources& r) {
  ResourceCheck check{false, "fp32 sums", r, {}};
  if (r.dtype == Dtype::fp32) {
    check.holds = r.mma.empty();
    check.figures = r.mma.empty() ? "no MMA: the products are fp32, too"
                                  : fmt::format("narrows fp32 for {}", fmt::join(r.mma, ", "));
    return check;
  }
  check.holds = !r.mma.empty() && std::all_of(r.mma.begin(), r.mma.end(), sums_in_fp32);
  check.figures = fmt::format("{}: {} of either product", fmt::join(r.mma, ", "), r.mma_unknown);
  return check;
}

ResourceCheck check_sums(const Resources& r) {
  if (stored_dtype(r.dtype) == Dtype::fp32) return check_wide_sums(r);
  const bool products = r.mma_scores > 0 && r.mma_values > 0 && r.mma_unknown == 0;
  ResourceCheck check{false, "fp32 sums", r, {}};
  check.holds = products && std::all_of(r.mma.begin(), r.mma.end(), sums_in_fp32);
  Words shapes;
  for (const std::string& mma : r.mma) {
    const bool by_warp = mma.starts_with("mma.sync.");
    shapes.push_back(by_warp ? "mma.sync " + mma_shape(mma) : mma);
  }
  check.figures =
      fmt::format("{}: {} of Q K^T, {} of P V",
                  shapes.empty() ? "no MMA" : fmt::format("{}", fmt::join(shapes, ", ")),
                  r.mma_scores, r.mma_values);
  if (r.mma_unknown > 0) check.figures += fmt::format(", {} of neither", r.mma_unknown);
  return check;
}

ResourceCheck check_warpgroups(const Resources& r) {
  const auto adds_in_fp32 = [](const std::string& mma) {
    return mma.starts_with("wgmma.mma_async.") && mma.find(".f32.") != std::string::npos;
  };
  ResourceCheck check{false, "side by side", r, {}};
  check.holds =
      !r.one_by_one && !r.mma.empty() && std::all_of(r.mma.begin(), r.mma.end(), adds_in_fp32);
  check.figures = fmt::format("{}: {}", fmt::join(r.mma, ", "),
                              r.one_by_one ? "one after the other" : "beside the threads");
  return check;
}

Words instructions(const Resources& r) {
  Words all;
  std::merge(r.mma.begin(), r.mma.end(), r.copies.begin(), r.copies.end(), std::back_inserter(all));
  return all;
}

bool same_tile(const Resources& a, const Resources& b) {
  const auto key = [](const Resources& r) {
    return std::tie(r.arch, r.dtype, r.head_dim, r.head_dim_v, r.BM, r.BN, r.threads, r.variant);
  };
  return key(a) == key(b);
}

ResourceCheck check_window(const Resources& bounded, const std::vector<Resources>& all) {
  ResourceCheck check{false, "as mask-only", bounded, {}};
  const auto masked = std::find_if(all.begin(), all.end(), [&](const Resources& r) {
    return r.kernel == "portable-mask-only" && same_tile(r, bounded);
  });
  if (masked == all.end()) {
    check.figures = "portable-mask-only has no such tile";
    return check;
  }
  const Words ours = instructions(bounded), theirs = instructions(*masked);
  Words differing;
  std::set_symmetric_difference(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                                std::back_inserter(differing));
  check.holds = bounded.smem_bytes == masked->smem_bytes && differing.empty();
  check.figures = fmt::format(
      "shared memory {} and {} B, {}; not judged: registers {} and {}, spill {} and {} B",
      bounded.smem_bytes, masked->smem_bytes,
      differing.empty() ? fmt::format("the same {} MMA and copy instructions", ours.size())
                        : fmt::format("only one has {}", fmt::join(differing, " and ")),
      bounded.registers, masked->registers, bounded.spill_bytes(), masked->spill_bytes());
  return check;
}

}  // namespace

std::vector<ResourceCheck> check_resources(const std::vector<Resources>& instances) {
  std::vector<ResourceCheck> checks;
  for (const Resources& r : instances) {
    if (r.kernel.starts_with("portable-")) checks.push_back(check_sums(r));
    if (r.kernel.starts_with("sm90-")) checks.push_back(check_warpgroups(r));
    if (r.variant.empty()) checks.push_back({false, "described", r, "no description fits it"});
  }
  for (const Resources& r : instances) {
    const bool planted = r.variant != "plain" && r.variant != "general";
    const bool one_for_both = stored_dtype(r.dtype) == Dtype::fp32;
    if (r.kernel == "portable-prefill" && !planted && !one_for_both)
      checks.push_back(check_window(r, instances));
  }
  return checks;
}

}  // namespace swa
