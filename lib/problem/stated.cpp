#include "problem/stated.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "error.hpp"
#include "mask/conventions.hpp"
#include "problem/words.hpp"

namespace swa {
namespace {

bool is_band(const StatedMask& s) {
  return s.left || s.right;
}

void require_one_spelling(const StatedMask& s) {
  if (!s.windows.empty() && is_band(s)) {
    throw UsageError("--W and --left/--right are two spellings of the window",
                     "give --W for a causal window, or --left and --right for a band");
  }
  if (s.mask && (!s.windows.empty() || is_band(s))) {
    throw UsageError(fmt::format("--mask and {} are two spellings of the window",
                                 is_band(s) ? "--left/--right" : "--W"),
                     "give one of them");
  }
}

void require_fp32(std::string_view key, double value, std::string_view text) {
  if (std::abs(value) <= largest_finite(Dtype::fp32)) return;
  throw UsageError(fmt::format("{} {} is more than fp32 holds", option_of(key), text),
                   fmt::format("the largest value is {:.7g}", largest_finite(Dtype::fp32)));
}

Index longest(const std::vector<Index>& lengths) {
  return *std::max_element(lengths.begin(), lengths.end());
}

void set_lengths(Problem& p, const StatedSizes& s) {
  p.lengths_q = s.lengths_q;
  p.lengths_k = s.lengths_k;
  p.layout = s.n_q || s.n_k ? Layout::padded : Layout::packed;
  if (p.lengths_q.empty() && !s.n_q) {
    throw UsageError("--lengths-k states no queries", "give --nq or --lengths-q too");
  }
  if (p.lengths_k.empty() && !s.n_k) p.lengths_k = p.lengths_q;
  p.batch = static_cast<Index>((p.lengths_q.empty() ? p.lengths_k : p.lengths_q).size());
  // Lengths of 0 alone leave nothing to compute; 1 keeps the sizes themselves in range.
  p.n_q = s.n_q ? *s.n_q : larger(1, longest(p.lengths_q));
  p.n_k = s.n_k ? *s.n_k : larger(1, longest(p.lengths_k));
  if (!p.lengths_q.empty() && longest(p.lengths_q) == 0) {
    constexpr std::size_t kMost = 8;  // lengths that a sentence holds
    const std::size_t shown = std::min(p.lengths_q.size(), kMost);
    const auto begin = p.lengths_q.begin();
    throw UsageError(fmt::format("--lengths-q {}{} has no query at all",
                                 fmt::join(begin, begin + static_cast<std::ptrdiff_t>(shown), ","),
                                 shown < p.lengths_q.size() ? ",..." : ""),
                     "give at least one sequence a query");
  }
}

}  // namespace

std::vector<Window> decide_windows(const StatedMask& s) {
  require_one_spelling(s);
  if (s.mask) return {parse_mask_spec(*s.mask, s.causal).window};
  const std::vector<Window> none{Window::global()};
  if (!s.windows.empty() && s.windows != none && s.causal == false) {
    throw UsageError("--W is a causal window, so --no-causal contradicts it",
                     "say --left and --right, keys besides the query's own");
  }
  if (!is_band(s) && s.causal != false) return s.windows.empty() ? none : s.windows;

  const Side usual_right = s.causal == false ? Side::unbounded() : Side::of(0);
  const Side left = s.left.value_or(Side::unbounded()), right = s.right.value_or(usual_right);
  if (s.causal == true && !(right == Side::of(0))) {
    throw UsageError(fmt::format("--right {} lets queries see later keys, so --causal contradicts "
                                 "it",
                                 right.bounded ? fmt::format("{}", right.reach) : "none"),
                     "leave --causal out, or give --right 0");
  }
  // A band that ends at the query becomes the causal window it is equal to.
  return {from_flash_attention(
      {false, left.bounded ? left.reach : -1, right.bounded ? right.reach : -1})};
}

Anchor decide_anchor(const StatedMask& s) {
  if (!s.mask) return s.anchor.value_or(Anchor::bottom_right);
  const MaskSpec spec = parse_mask_spec(*s.mask, s.causal);
  if (!s.anchor) return spec.anchor;
  if (spec.anchor_is_fixed && spec.anchor != *s.anchor) {
    throw UsageError(fmt::format("--anchor {} contradicts --mask {}, which aligns {}",
                                 name(*s.anchor), *s.mask, name(spec.anchor)),
                     "leave --anchor out, or say the window with --W or --left and --right");
  }
  return *s.anchor;
}

std::string_view name(Anchor anchor) {
  return anchor == Anchor::top_left ? "top-left" : "bottom-right";
}

void set_sizes(Problem& p, const StatedSizes& s) {
  if (!s.lengths_q.empty() || !s.lengths_k.empty()) return set_lengths(p, s);
  if (!s.n_q && !s.n_k) {
    throw UsageError("the problem has no size",
                     "give --nq and --nk (one is enough if they are "
                     "equal), such as --nq 1000 --W 100");
  }
  p.n_q = s.n_q ? *s.n_q : *s.n_k;
  p.n_k = s.n_k ? *s.n_k : *s.n_q;
}

void set_batch(Problem& p, Index batch) {
  if (p.has_lengths() && batch != p.batch) {
    throw UsageError(
        fmt::format("--batch {} contradicts the lengths of {} sequences", batch, p.batch),
        "leave --batch out, the lengths count the sequences");
  }
  p.batch = batch;
}

std::vector<CacheLayout> decide_caches(const StatedCache& s) {
  const std::vector<CacheKind> kinds =
      s.kinds.empty() ? std::vector{CacheKind::contiguous} : s.kinds;
  const auto refuse_without = [&](CacheKind kind, std::string_view key, bool given) {
    if (!given || std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) return;
    throw UsageError(
        fmt::format("{} belongs to a {} cache, and {} asks for none", option_of(key), name(kind),
                    option_of("cache")),
        fmt::format("give {} {}, or leave {} out", option_of("cache"), name(kind), option_of(key)));
  };
  refuse_without(CacheKind::ring, "capacity", !s.capacities.empty());
  refuse_without(CacheKind::paged, "page", !s.pages.empty());
  std::vector<CacheLayout> layouts;
  for (const CacheKind kind : kinds) {
    const bool ring = kind == CacheKind::ring, paged = kind == CacheKind::paged;
    if (ring) {
      for (const Index capacity : s.capacities) layouts.push_back({kind, capacity});
    }
    if (paged) {
      for (const Index page : s.pages) layouts.push_back({kind, {}, page});
    }
    if ((!ring || s.capacities.empty()) && (!paged || s.pages.empty())) layouts.push_back({kind});
  }
  return layouts;
}

void set_softcap(Problem& p, double softcap, std::string_view text) {
  if (!(softcap > 0)) {
    throw UsageError(fmt::format("--softcap {} is not above 0", text),
                     "for no softcap leave the option out");
  }
  require_fp32("softcap", softcap, text);
  // Scores are divided by it: in fp32 that must be no division by 0, on machines too that flush
  // subnormal numbers.
  if (softcap < smallest_normal(Dtype::fp32)) {
    throw UsageError(fmt::format("--softcap {} is below the normal numbers of fp32", text),
                     fmt::format("the smallest value is {:.7g}", smallest_normal(Dtype::fp32)));
  }
  p.softcap = softcap;
}

void set_scale(Problem& p, double scale, std::string_view text) {
  require_fp32("scale", scale, text);
  p.scale = scale;
}

std::vector<std::string> element_words() {
  return {"fp64", "fp32", "tf32", "bf16", "fp16"};
}

}  // namespace swa
