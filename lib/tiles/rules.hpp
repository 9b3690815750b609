// Which tiles other people's kernels visit for the same mask, from their source.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "tiles/tiles.hpp"

namespace swa {

enum class Rule : std::uint8_t {
  exact,       // the tiles with a visible pair and no other, masked where they are not full
  fa2,         // FlashAttention 2, flash_fwd_kernel.h compute_attn_1rowblock
  fa3,         // FlashAttention 3, hopper/block.h BlockMN
  flashinfer,  // FlashInfer's Hopper kernel, attention/hopper/mainloop.cuh and mainloop_mma.cuh
  flex,        // PyTorch FlexAttention, create_block_mask
};
inline constexpr std::array kRules{Rule::exact, Rule::fa2, Rule::fa3, Rule::flashinfer, Rule::flex};

std::string_view name(Rule rule);
std::optional<Rule> parse_rule(std::string_view word);

// Why the rule says nothing about a mask and a tile: the kernel has no such mask, computes another
// one, or has no such tile.
std::optional<std::string> not_described(const Mask& mask, TileShape tile, Rule rule);

// The tile of the forward kernel for 16-bit inputs on an H100 or H200; 128 x 128 for exact.
// Throws UsageError for a head_dim that the kernel does not have.
TileShape usual_tile(Rule rule, const Mask& mask, Index head_dim);

// The tiles that the rule visits for one query tile, and how it classes them: FlexAttention calls
// no tile FULL that hangs over the end.
TileWalk walk_of(const Mask& mask, TileShape tile, Rule rule, Index query_tile);
TileClass class_of(const Mask& mask, TileShape tile, Rule rule, Index query_tile, Index key_tile);

// What one query tile contributes.
struct Tally {
  Index visited = 0;
  Index full = 0, partial = 0;  // visited tiles by class; the others are empty
  Index masked = 0;             // visited tiles whose scores pass through the mask
};
Tally tally(const Mask& mask, TileShape tile, Rule rule, Index query_tile);

}  // namespace swa
