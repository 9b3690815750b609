#include "chapter/compile_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

#include "chapter/gpu_figures.hpp"
#include "kernels/launch/prefill.hpp"

namespace swa::chapter {
namespace {

constexpr int kHeadDim = 128;  // of the chapter's kernel

std::string as_sentence(const std::vector<std::string>& lines) {
  std::string sentence;
  for (const std::string& line : lines) {
    if (!sentence.empty()) sentence += ' ';
    sentence += line.substr(line.find_first_not_of(' '));
  }
  return sentence;
}

}  // namespace

const std::vector<CompiledTile>& compiled_tiles() {
  static const std::vector<CompiledTile> kTiles{
      {64, 64, 32768, "m64n64k16.f32.bf16.bf16", "m64n128k16.f32.bf16.bf16"},
      {128, 64, 65536, "m64n64k16.f32.bf16.bf16", "m64n128k16.f32.bf16.bf16"}};
  return kTiles;
}

const Resources* nearest(const std::vector<Resources>& instances, const CompiledTile& tile) {
  const Resources* best = nullptr;
  const auto distance = [&](const Resources& r) {
    return 2 * (std::abs(r.BM - tile.BM) + std::abs(r.BN - tile.BN)) +
           (r.arch.starts_with("sm_90") ? 0 : 1);
  };
  for (const Resources& r : instances) {
    const bool fits = r.kernel == "portable-prefill" && r.variant == "plain" &&
                      r.dtype == Dtype::bf16 && r.head_dim == kHeadDim && r.head_dim_v == kHeadDim;
    if (fits && (best == nullptr || distance(r) < distance(*best))) best = &r;
  }
  return best;
}

std::string mma_words(const Resources& instance) {
  std::vector<std::string> shapes;
  for (const std::string& mma : instance.mma) shapes.push_back(mma_shape(mma));
  return fmt::format("mma.sync {}", fmt::join(shapes, " "));
}

std::vector<std::string> why_shared_memory_differs() {
  const PrefillTile t = prefill_tile(kHeadDim, kHeadDim);
  const int bounds = t.BM * 8, row = t.pitch() * 2, kv_tile = 64 * kHeadDim * 2;
  const int small = compiled_tiles()[0].smem_bytes, large = compiled_tiles()[1].smem_bytes;
  return {
      fmt::format("shared memory: portable-prefill has {} B = {} B of row bounds + ({} rows of Q "
                  "+ {} slots of {} keys) x {} B,",
                  t.smem_bytes(), bounds, t.BM, t.slots, t.BN, row),
      fmt::format("  a row being {} elements and 16 B against bank conflicts; the chapter's {} and "
                  "{} B are {} and {} tiles of 64 x {}.",
                  kHeadDim, small, large, small / kv_tile, large / kv_tile, kHeadDim)};
}

std::vector<std::string> why_mma_differs() {
  return {
      "MMA: wgmma (sm_90a alone) is one instruction of four warps for 64 rows and the width of",
      "  the product, keys or head_dim. mma.sync (sm_80 and later) is one of a single warp, and "
      "its",
      "  shape is the same for both products. Both take 16-bit factors and add up in fp32."};
}

void compile_check_rows(Figures& figures, const std::vector<Resources>& instances) {
  const std::string smem_differs = as_sentence(why_shared_memory_differs());
  const std::string mma_differs = as_sentence(why_mma_differs());
  for (const CompiledTile& tile : compiled_tiles()) {
    const Resources* const r = nearest(instances, tile);
    const auto add = [&](const char* what, const std::string& ours, const std::string& note) {
      figures.other_kernel(
          fmt::format("compiled for sm_90, tile {}x{}: {}", tile.BM, tile.BN, what), ours, note);
    };
    const std::string none = "no CUDA kernels in this build";
    const std::string mma = r == nullptr ? none : mma_words(*r);
    add("shared bytes",
        r == nullptr ? none
                     : fmt::format("{} (tile {}x{}, {})", r->smem_bytes, r->BM, r->BN, r->arch),
        smem_differs);
    add("wgmma of Q K^T", mma, mma_differs);
    add("wgmma of P V", mma, mma_differs);
  }
}

}  // namespace swa::chapter
