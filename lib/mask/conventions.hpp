// The window conventions of other projects, converted here and nowhere else.
//
// Each project counts something else: all keys that a query sees (W), the keys before it (L), those
// to either side (L, R), both sides together (a diameter), or the tokens of a chunk. The table in
// conventions.cpp says which, where row 0 sits when n_q != n_k, and how to write it down.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mask/window.hpp"

namespace swa {

// FlashAttention's causal and window_size = (left, right): keys besides the query, inclusive on
// both sides, aligned bottom-right; -1 means no bound. causal=True hides every later key whatever
// `right` says. Source: FlashAttention's README, flash_attn_func.
struct FlashAttentionWindow {
  bool causal = false;
  Index left = -1, right = -1;
};

// Nothing for a chunked window, which is no band.
std::optional<FlashAttentionWindow> to_flash_attention(const Window& window);
// Negative means no bound. (L, 0) is a causal window of L + 1 keys.
Window from_flash_attention(FlashAttentionWindow fa);

// What a specification such as "fa:127,0" states.
struct MaskSpec {
  Window window;
  Anchor anchor = Anchor::bottom_right;
  bool anchor_is_fixed = false;  // the system knows no other
};

// Reads "none", "full", "causal" or "SYSTEM:NUMBERS" with a word of convention_words().
// `causal`: what --causal (true) or --no-causal (false) said, for the systems that leave it open;
// nothing where neither was given. Throws UsageError for what is unknown or contradicts itself.
MaskSpec parse_mask_spec(std::string_view spec, std::optional<bool> causal = std::nullopt);

// The words before the colon, in the order of the table: "fa", "hf", ...
std::vector<std::string> convention_words();

// How one system is told about a mask.
struct Phrase {
  std::string word;    // of --mask; empty where the system takes code, not numbers
  std::string system;  // "FlashAttention 2 and 3"
  std::string call;    // "causal=True, window_size=(127, 0)"; empty where it cannot be said
  std::string spec;    // what follows --mask, "fa:127,0", with an --anchor where it needs one
  std::string reason;  // why it cannot be said; empty where it can
};
std::vector<Phrase> phrases(const Mask& mask);

// The mask for people, such as "W = 128 keys, the query's own included (FlashAttention causal=True,
// window_size=(127, 0))". The conversion is left out, and the reason given, where FlashAttention
// has no such mask: sink tokens, chunks, or another alignment than bottom-right.
std::string describe(const Mask& mask);

}  // namespace swa
