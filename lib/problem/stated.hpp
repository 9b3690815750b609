// What the words of a problem say together. The command line and case files keep to the same rules;
// complaints name the options of the command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.hpp"

namespace swa {

// The words of the mask that were said.
struct StatedMask {
  std::vector<Window> windows;  // of `window`, causal or global; empty where it was not said
  std::optional<Side> left, right;
  std::optional<std::string> mask;  // a specification, see mask/conventions.hpp
  std::optional<bool> causal;
  std::optional<Anchor> anchor;
};

// At least one window; more than one where `windows` has more. Both throw UsageError where two
// spellings are used at once or contradict each other.
std::vector<Window> decide_windows(const StatedMask& stated);
// That of `anchor`, or of the convention that `mask` names.
Anchor decide_anchor(const StatedMask& stated);

// "bottom-right" or "top-left".
std::string_view name(Anchor anchor);

// The words of the sizes that were said.
struct StatedSizes {
  std::optional<Index> n_q, n_k;
  std::vector<Index> lengths_q, lengths_k;  // empty where they were not said
};

// Sets sizes, lengths and layout; the batch too where there are lengths. Lengths without n_q and
// n_k are packed sequences, with either of them a padded batch. Where one of a pair is missing it
// follows the other. Throws UsageError where there is no size, or no query at all.
void set_sizes(Problem& problem, const StatedSizes& stated);
// Throws UsageError where the lengths count other sequences than that.
void set_batch(Problem& problem, Index batch);

// The words of the cache that were said; empty where they were not.
struct StatedCache {
  std::vector<CacheKind> kinds;
  std::vector<Index> capacities, pages;  // of rings, and of paged caches
};

// At least one layout: each kind, once for each of its capacities or pages. Throws UsageError for
// those of a kind that was not said.
std::vector<CacheLayout> decide_caches(const StatedCache& stated);

// Kernels hold these numbers in fp32; a softcap is above 0 there, and a normal number. `text` is
// the number as it was written. Both throw UsageError for others.
void set_softcap(Problem& problem, double softcap, std::string_view text);
void set_scale(Problem& problem, double scale, std::string_view text);

// The types of elements that kernels take: "fp64", "fp32", ...
std::vector<std::string> element_words();

}  // namespace swa
