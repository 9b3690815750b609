#include "verify/kernel.hpp"

#include <fmt/format.h>

#include "reference/tiled.hpp"
#include "tiles/counts.hpp"

namespace swa {

std::optional<std::string> needs_contiguous(const Problem& problem) {
  if (problem.cache.kind == CacheKind::contiguous) return std::nullopt;
  return fmt::format("reads contiguous keys, no {} cache", name(problem.cache.kind));
}

std::vector<Kernel> cpu_kernels(TileShape tile) {
  Kernel tiled;
  tiled.name = "cpu-tiled";
  tiled.sums = {tile.BN, tile.BN};
  tiled.tile = [tile](const Problem&) { return tile; };
  // A key's v meets the weights of all rows of a query tile that holds a row which sees it.
  tiled.granule = tile.BM - 1;
  tiled.unsupported = needs_contiguous;
  tiled.run = [tile](const Problem& problem, const Inputs& inputs, Attention& outputs) {
    TiledOptions options;
    options.tile = tile;
    outputs = problem.dtype == Dtype::fp64
                  ? Attention(tiled_forward<double>(problem, inputs, options))
                  : Attention(tiled_forward<float>(problem, inputs, options));
    round_to(stored_dtype(problem.dtype), outputs.out.data);
  };
  return {tiled};
}

Attention run_poisoned(const Kernel& kernel, const Problem& problem, const Inputs& inputs) {
  Attention outputs = poisoned_outputs(problem);
  kernel.run(problem, inputs, outputs);
  return outputs;
}

double visible_pairs_of(const Problem& p) {
  double pairs = 0;
  for (const SharedMask& s : shared_masks(p)) {
    pairs += static_cast<double>(visible_pairs(s.mask)) * static_cast<double>(s.sequences);
  }
  return pairs * static_cast<double>(p.heads_q);
}

bool matches(std::string_view pattern, std::string_view name) {
  // Where a later letter does not fit, the last * takes one letter more: linear in practice, and
  // never worse than pattern times name.
  constexpr auto kNone = std::string_view::npos;
  std::size_t p = 0, n = 0, star = kNone, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != kNone) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace swa
