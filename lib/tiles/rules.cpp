#include "tiles/rules.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "error.hpp"

namespace swa {
namespace {

// Neither causal nor free: the kernels' is_local.
bool is_windowed(const Window& window) {
  return window.kind != Window::Kind::global &&
         (window.reach_left().bounded || window.reach_right().bounded);
}

// FlashAttention drops a bound that hides nothing: its code for windows is then not used.
Window as_called(const Mask& mask, Rule rule) {
  const Side left = mask.window.reach_left(), right = mask.window.reach_right();
  const Index one = rule == Rule::fa3 ? 1 : 0;
  const bool left_open = !left.bounded || left.reach >= mask.n_k - one;
  const bool right_open =
      !right.bounded || right.reach >= (rule == Rule::fa3 ? mask.n_q - 1 : mask.n_k);
  const bool is_fa = rule == Rule::fa2 || rule == Rule::fa3;
  if (!is_fa || !(left_open || right_open)) return mask.window;
  if (left_open && right == Side::of(0)) return Window::global();
  return Window::band(left_open ? Side::unbounded() : left,
                      right_open && !(right == Side::of(0)) ? Side::unbounded() : right);
}

// Tiles of the exact walk that need no mask. The bounds are those of classify(), solved for the
// tile.
Index count_full(const Mask& mask, TileShape tile, Index query_tile) {
  const KeyRange rows = rows_of_tile(mask, tile, query_tile);
  const Index right = band_end(mask, rows.begin);
  const Index end = right >= mask.n_k ? key_tiles(mask, tile) : right / tile.BN;
  const Index left = band_begin(mask, rows.end - 1);
  if (left <= mask.sinks) return end;  // every key before the band is a sink token
  const Index band = larger(0, end - ceil_div(left, tile.BN));
  // sinks < left <= n_k here, so a tile of nothing but sink tokens is never clipped.
  return band + smaller(end, mask.sinks / tile.BN);
}

// FlashAttention 2 calls a right side of n_k or more open, and an open one n_k where the left side
// is bounded: right as long as n_k reaches the last key from the first row, which sits at n_k -
// n_q.
bool fa2_drops_keys(const Mask& mask) {
  const Side left = mask.window.reach_left(), right = mask.window.reach_right();
  const bool past_end = !right.bounded || (right.reach > 0 && right.reach >= mask.n_k);
  if (!past_end || mask.n_q - 1 <= mask.n_k) return false;
  const bool sees_all = !right.bounded || right.reach >= mask.n_q - 1;
  const bool left_open = !left.bounded || left.reach >= mask.n_k;
  return !(sees_all && left_open);
}

// The bounds of the FlashAttention family, in keys and not clipped: those of a whole query tile,
// also where the last one hangs over the end.
struct Reach {
  Index first_left;             // the first key of the tile's first row
  Index past_left, past_right;  // the first and the last key of the row after the tile's last
};
Reach reach_of(const Mask& mask, TileShape tile, Index query_tile) {
  const Index first = mask.q_offset + query_tile * tile.BM, past = first + tile.BM;
  const Side left = mask.window.reach_left(), right = mask.window.reach_right();
  // An open side reaches past every key.
  const Index L = left.bounded ? left.reach : mask.n_q + mask.n_k;
  const Index R = right.bounded ? right.reach : mask.n_q + mask.n_k;
  return {first - L, past - L, past + R};
}

// Division as in C, which these kernels clip at 0 afterwards.
Index tile_end(Index key, Index BN) {
  return key <= 0 ? 0 : ceil_div(key, BN);
}

TileRange flash_attention_walk(const Mask& mask, TileShape tile, Index query_tile) {
  const Reach reach = reach_of(mask, tile, query_tile);
  const Index begin = larger(0, reach.first_left) / tile.BN;
  const Index end = smaller(key_tiles(mask, tile), tile_end(reach.past_right, tile.BN));
  return {begin, larger(begin, end)};
}

// Without a window the diagonal tiles are masked, one more where a side is no multiple of the tile;
// with one, all.
Index fa2_masked(const Mask& mask, TileShape tile, Index visited) {
  const Window window = as_called(mask, Rule::fa2);
  if (is_windowed(window)) return visited;
  const bool even = mask.n_q % tile.BM == 0 && mask.n_k % tile.BN == 0;
  const bool causal = window.kind == Window::Kind::global && mask.n_q > 1;
  if (!causal) return even ? 0 : smaller(visited, 1);
  return smaller(visited, ceil_div(tile.BM, tile.BN) + (even ? 0 : 1));
}

// Three loops: the tiles at the right bound, the last of the walk among them, those between, and
// those at the left bound. Beside one bound, an open side reaches the first or the last key and no
// further.
Index fa3_masked(const Mask& mask, TileShape tile, Index query_tile, TileRange walk) {
  if (walk.size() == 0) return 0;
  const Window window = as_called(mask, Rule::fa3);
  const Side left = window.reach_left(), right = window.reach_right();
  const Index first = mask.q_offset + query_tile * tile.BM, past = first + tile.BM;
  Index right_loop = walk.end - 1, left_loop = walk.begin;  // where the first ends, the last begins
  if (is_windowed(window) || right.bounded) {
    const Index last_key = first + (right.bounded ? right.reach : mask.n_q - 1);
    right_loop = clamp(larger(0, last_key) / tile.BN, walk.begin, right_loop);
  }
  if (is_windowed(window)) {
    const Index first_key = past - (left.bounded ? left.reach : mask.n_k - 1);
    left_loop = clamp(tile_end(first_key, tile.BN), walk.begin, right_loop);
  }
  return walk.end - right_loop + left_loop - walk.begin;
}

// The walk begins one tile before that of the first row's left bound, and always has one tile.
TileRange flashinfer_walk(const Mask& mask, TileShape tile, Index query_tile) {
  const Reach reach = reach_of(mask, tile, query_tile);
  const bool causal = mask.window.reach_right().bounded;
  const Index end = causal ? smaller(key_tiles(mask, tile), tile_end(reach.past_right, tile.BN))
                           : key_tiles(mask, tile);
  if (end == 0) return {};
  const Index begin =
      mask.window.reach_left().bounded ? larger(0, larger(0, reach.first_left) / tile.BN - 1) : 0;
  return {smaller(begin, end - 1), end};
}

Index flashinfer_masked(const Mask& mask, TileShape tile, Index query_tile, TileRange walk) {
  if (walk.size() == 0) return 0;
  const bool causal = mask.window.reach_right().bounded;
  const Index steps = causal ? ceil_div(tile.BM, tile.BN) : 0;
  const Index after_right = larger(walk.begin, walk.end - 1 - steps);
  if (!mask.window.reach_left().bounded) return walk.end - after_right;
  const Reach reach = reach_of(mask, tile, query_tile);
  // Truncated as in C, and at least -1.
  const Index left_end = larger(reach.past_left / tile.BN, -1);
  const Index before_left = clamp(left_end + 1, walk.begin, after_right);
  return walk.end - after_right + before_left - walk.begin;
}

// A block is full only if it is whole: create_block_mask pads the mask with zeros.
Index flex_full(const Mask& mask, TileShape tile, Index query_tile, Index full) {
  const KeyRange rows = rows_of_tile(mask, tile, query_tile);
  if (rows.size() < tile.BM) return 0;
  const bool last_is_cut = mask.n_k % tile.BN != 0;
  const bool last_is_full =
      full > 0 && classify(mask, tile, query_tile, key_tiles(mask, tile) - 1) == TileClass::full;
  return full - (last_is_cut && last_is_full ? 1 : 0);
}

// Tiles that are visited besides those of the exact walk hold nothing visible.
Tally with_walk(const Tally& exact, TileRange walk, Index masked) {
  if (walk.size() < exact.visited) {
    throw std::logic_error("the rule of a kernel leaves visible tiles out");
  }
  return {walk.size(), exact.full, exact.partial, masked};
}

}  // namespace

std::string_view name(Rule rule) {
  switch (rule) {
    case Rule::exact:
      return "exact";
    case Rule::fa2:
      return "fa2";
    case Rule::fa3:
      return "fa3";
    case Rule::flashinfer:
      return "flashinfer";
    case Rule::flex:
      return "flex";
  }
  return "?";
}

std::optional<Rule> parse_rule(std::string_view word) {
  for (const Rule rule : kRules) {
    if (name(rule) == word) return rule;
  }
  return std::nullopt;
}

std::optional<std::string> not_described(const Mask& mask, TileShape tile, Rule rule) {
  if (rule == Rule::exact || rule == Rule::flex) return std::nullopt;
  const std::string_view kernel = rule == Rule::flashinfer ? "FlashInfer" : "FlashAttention";
  if (mask.sinks > 0) return fmt::format("{} has no sink tokens", kernel);
  if (mask.window.kind == Window::Kind::chunked) {
    return fmt::format("the chunks of {} are not modelled here", kernel);
  }
  if (mask.q_offset != mask.n_k - mask.n_q) return fmt::format("{} aligns bottom-right", kernel);
  const Side right = mask.window.reach_right();
  if (rule == Rule::flashinfer && right.bounded && right.reach > 0) {
    return "FlashInfer has no window to the right";
  }
  if (rule == Rule::fa2 && tile.BM % tile.BN != 0 && tile.BN % tile.BM != 0) {
    return "FlashAttention 2 has tiles whose sides are multiples of one another";
  }
  if (rule == Rule::fa2 && fa2_drops_keys(mask)) {
    return "FlashAttention 2 computes another mask: it takes n_k keys, or none, for a right side "
           "that is open or reaches past n_k, and n_q is more";
  }
  return std::nullopt;
}

TileShape usual_tile(Rule rule, const Mask& mask, Index head_dim) {
  const Window window = as_called(mask, rule);
  const bool windowed = is_windowed(window);
  const bool causal = window.kind == Window::Kind::global;
  const auto refuse = [&]() -> TileShape {
    throw UsageError(fmt::format("--rule {} has no tile for head_dim {}", name(rule), head_dim),
                     "give --BM and --BN, or another --head-dim");
  };
  switch (rule) {
    case Rule::exact:
    case Rule::flex:
      return {128, 128};
    case Rule::fa2:  // commit 0251105a, on an H100
      if (head_dim <= 64) return {128, 128};
      if (head_dim <= 192) return {128, 64};
      return head_dim <= 256 ? TileShape{64, 64} : refuse();
    case Rule::fa3:  // hopper/tile_size.h at commit 0251105a
      if (head_dim <= 64) return {192, windowed || causal ? 128 : 192};
      if (head_dim <= 96) return {192, windowed ? 128 : 144};
      if (head_dim <= 128) return {128, windowed || causal ? 128 : 176};
      if (head_dim <= 192) return {128, windowed ? 96 : 112};
      return head_dim <= 256 ? TileShape{128, windowed ? 64 : 80} : refuse();
    case Rule::flashinfer:  // commit fb28d72, contiguous K and V
      if (head_dim == 64) return {192, 128};
      if (head_dim == 128) return {128, window.reach_right().bounded ? 128 : 192};
      return head_dim == 256 ? TileShape{128, 64} : refuse();
  }
  return refuse();
}

TileWalk walk_of(const Mask& mask, TileShape tile, Rule rule, Index query_tile) {
  switch (rule) {
    case Rule::exact:
    case Rule::flex:
      return tiles_of_query_tile(mask, tile, query_tile);
    case Rule::fa2:
    case Rule::fa3:
      return {{}, flash_attention_walk(mask, tile, query_tile)};
    case Rule::flashinfer:
      return {{}, flashinfer_walk(mask, tile, query_tile)};
  }
  return {};
}

TileClass class_of(const Mask& mask, TileShape tile, Rule rule, Index query_tile, Index key_tile) {
  const TileClass kind = classify(mask, tile, query_tile, key_tile);
  const bool whole = rows_of_tile(mask, tile, query_tile).size() == tile.BM &&
                     keys_of_tile(mask, tile, key_tile).size() == tile.BN;
  return rule == Rule::flex && kind == TileClass::full && !whole ? TileClass::partial : kind;
}

Tally tally(const Mask& mask, TileShape tile, Rule rule, Index query_tile) {
  Tally exact;
  exact.visited = tiles_of_query_tile(mask, tile, query_tile).size();
  exact.full = count_full(mask, tile, query_tile);
  exact.partial = exact.masked = exact.visited - exact.full;
  switch (rule) {
    case Rule::exact:
      break;
    case Rule::flex:
      exact.full = flex_full(mask, tile, query_tile, exact.full);
      exact.partial = exact.masked = exact.visited - exact.full;
      break;
    case Rule::fa2: {
      const TileRange walk = flash_attention_walk(mask, tile, query_tile);
      return with_walk(exact, walk, fa2_masked(mask, tile, walk.size()));
    }
    case Rule::fa3: {
      const TileRange walk = flash_attention_walk(mask, tile, query_tile);
      return with_walk(exact, walk, fa3_masked(mask, tile, query_tile, walk));
    }
    case Rule::flashinfer: {
      const TileRange walk = flashinfer_walk(mask, tile, query_tile);
      return with_walk(exact, walk, flashinfer_masked(mask, tile, query_tile, walk));
    }
  }
  return exact;
}

}  // namespace swa
