// Every closed form of lib/tiles and lib/mask against brute force over sees(): all n_q, n_k <= 70,
// all W and chunks <= 72 and no window, sinks 0..5, both anchors, several tiles. Then larger random
// masks, whose tiles repeat, and the rules of other kernels, against a walk over all query tiles.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "mask/window.hpp"
#include "tiles/counts.hpp"

using namespace swa;

namespace {

constexpr Index kMaxN = 70, kMaxW = 72, kMaxSinks = 5;

// A sanitized build checks every eleventh window; the Release build checks them all.
#ifdef SWA_SANITIZED
constexpr Index kWindowStep = 11;
#else
constexpr Index kWindowStep = 1;
#endif

constexpr std::array<TileShape, 6> kTiles{{{1, 1}, {4, 4}, {16, 8}, {8, 16}, {7, 5}, {64, 32}}};

// A set of keys 0 .. 127, one bit each.
struct Keys {
  std::uint64_t low = 0, high = 0;

  void add(Index key) { (key < 64 ? low : high) |= std::uint64_t{1} << (key % 64); }
  Keys operator&(Keys o) const { return {low & o.low, high & o.high}; }
  Keys operator|(Keys o) const { return {low | o.low, high | o.high}; }
  bool operator==(const Keys&) const = default;
  bool any() const { return (low | high) != 0; }
  Index count() const { return std::popcount(low) + std::popcount(high); }

  static Keys range(Index begin, Index end) {
    const auto lowest = [](Index n) {  // of one word; shifting by 64 is undefined
      return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << larger(n, 0)) - 1;
    };
    const auto below = [&](Index n) { return Keys{lowest(n), lowest(n - 64)}; };
    const Keys upper = below(end), lower = below(begin);
    return {upper.low & ~lower.low, upper.high & ~lower.high};
  }
};

// What the mask's definition says, pair by pair.
std::vector<Keys> brute_force_rows(const Mask& mask) {
  std::vector<Keys> rows(static_cast<std::size_t>(mask.n_q));
  for (Index row = 0; row < mask.n_q; ++row) {
    for (Index key = 0; key < mask.n_k; ++key) {
      if (sees(mask, row, key)) rows[static_cast<std::size_t>(row)].add(key);
    }
  }
  return rows;
}

// Returns the first thing that does not hold, or an empty string.
std::string check_rows(const Mask& mask, const std::vector<Keys>& rows) {
  Index pairs = 0, blind = 0;
  Keys live;
  for (Index row = 0; row < mask.n_q; ++row) {
    const Keys& truth = rows[static_cast<std::size_t>(row)];
    const RowKeys keys = keys_of_row(mask, row);
    if (keys.sinks.end > keys.band.begin) return "ranges overlap";
    const Keys claimed =
        Keys::range(keys.sinks.begin, keys.sinks.end) | Keys::range(keys.band.begin, keys.band.end);
    if (!(claimed == truth) || keys.size() != truth.count()) return "keys_of_row";
    pairs += truth.count();
    blind += !truth.any();
    live = live | truth;
  }
  if (visible_pairs(mask) != pairs) return "visible_pairs";
  const RowKeys seen = keys_seen(mask);
  const Keys claimed = Keys::range(0, seen.sinks.end) | Keys::range(seen.band.begin, seen.band.end);
  if (!(claimed == live)) return "keys_seen";
  if (live_keys(mask) != live.count()) return "live_keys";
  if (rows_without_keys(mask) != blind) return "rows_without_keys";
  return {};
}

std::string check_tiles(const Mask& mask, const std::vector<Keys>& rows, TileShape tile) {
  TileCounts truth;
  for (Index i = 0; i < query_tiles(mask, tile); ++i) {
    const KeyRange q = rows_of_tile(mask, tile, i);
    Keys any, all = Keys::range(0, 128);
    for (Index row = q.begin; row < q.end; ++row) {
      any = any | rows[static_cast<std::size_t>(row)];
      all = all & rows[static_cast<std::size_t>(row)];
    }
    const TileWalk walk = tiles_of_query_tile(mask, tile, i);
    if (walk.sinks.end > walk.band.begin && walk.band.size() > 0) return "walks overlap";
    Index partial_here = 0;
    for (Index t = 0; t < key_tiles(mask, tile); ++t) {
      const KeyRange k = keys_of_tile(mask, tile, t);
      const Keys inside = Keys::range(k.begin, k.end);
      const TileClass kind = (all & inside) == inside ? TileClass::full
                             : (any & inside).any()   ? TileClass::partial
                                                      : TileClass::empty;
      if (classify(mask, tile, i, t) != kind) return "classify";
      const bool visited = (t >= walk.band.begin && t < walk.band.end) ||
                           (t >= walk.sinks.begin && t < walk.sinks.end);
      if (visited != (kind != TileClass::empty)) return "tiles_of_query_tile";
      truth.full += kind == TileClass::full;
      partial_here += kind == TileClass::partial;
      truth.skipped += kind == TileClass::empty;
    }
    truth.partial += partial_here;
    truth.partial_max_per_query_tile =
        std::max(truth.partial_max_per_query_tile, Count{partial_here});
  }
  const TileCounts counts = count_tiles(mask, tile);
  if (counts.full != truth.full || counts.partial != truth.partial || counts.empty != 0 ||
      counts.skipped != truth.skipped || counts.masked != counts.partial ||
      counts.visited != truth.full + truth.partial ||
      counts.partial_max_per_query_tile != truth.partial_max_per_query_tile) {
    return "count_tiles";
  }
  return {};
}

// Checks one mask with all tiles, and says which mask and what where it fails.
void check(const Mask& mask) {
  const std::vector<Keys> rows = brute_force_rows(mask);
  std::string wrong = check_rows(mask, rows);
  for (const TileShape tile : kTiles) {
    if (wrong.empty()) wrong = check_tiles(mask, rows, tile);
    if (wrong.empty()) continue;
    FAIL(wrong, " is wrong for kind ", static_cast<int>(mask.window.kind), " n_q ", mask.n_q,
         " n_k ", mask.n_k, " W ", mask.window.width, " left ", mask.window.left.reach, " right ",
         mask.window.right.reach, " sinks ", mask.sinks, " q_offset ", mask.q_offset, " BM ",
         tile.BM, " BN ", tile.BN);
  }
}

// All masks of a window over all sizes.
void check_sizes(const Window& window, Index sinks, Index step) {
  for (Index n_q = 1; n_q <= kMaxN; n_q += step) {
    for (Index n_k = larger(1, sinks); n_k <= kMaxN; n_k += step) {
      for (const Anchor anchor : {Anchor::bottom_right, Anchor::top_left}) {
        check(Mask::make(window, sinks, n_q, n_k, anchor));
      }
    }
  }
}

}  // namespace

TEST_CASE("ranges classes and counts equal brute force: causal windows W 1 to 24") {
  for (Index W = 1; W <= 24; W += kWindowStep) {
    for (Index sinks = 0; sinks <= kMaxSinks; ++sinks) check_sizes(Window::causal(W), sinks, 1);
  }
}

TEST_CASE("ranges classes and counts equal brute force: causal windows W 25 to 48") {
  for (Index W = 25; W <= 48; W += kWindowStep) {
    for (Index sinks = 0; sinks <= kMaxSinks; ++sinks) check_sizes(Window::causal(W), sinks, 1);
  }
}

TEST_CASE("ranges classes and counts equal brute force: causal windows W 49 to 72") {
  for (Index W = 49; W <= kMaxW; W += kWindowStep) {
    for (Index sinks = 0; sinks <= kMaxSinks; ++sinks) check_sizes(Window::causal(W), sinks, 1);
  }
}

TEST_CASE("ranges classes and counts equal brute force: chunks C 1 to 72") {
  for (Index C = 1; C <= kMaxW; C += kWindowStep) check_sizes(Window::chunked(C), 0, 1);
}

TEST_CASE("ranges classes and counts equal brute force: chunks and sink tokens") {
  for (Index C = 1; C <= kMaxW; C += kWindowStep) {
    for (Index sinks = 1; sinks <= kMaxSinks; ++sinks) check_sizes(Window::chunked(C), sinks, 3);
  }
}

TEST_CASE("ranges classes and counts equal brute force: no window") {
  for (Index sinks = 0; sinks <= kMaxSinks; ++sinks) check_sizes(Window::global(), sinks, 1);
}

TEST_CASE("ranges classes and counts equal brute force: two-sided bands") {
  const std::vector<Side> sides{Side::of(0),  Side::of(1),  Side::of(3),   Side::of(8),
                                Side::of(31), Side::of(69), Side::of(100), Side::unbounded()};
  for (const Side left : sides) {
    for (const Side right : sides) {
      for (Index sinks = 0; sinks <= kMaxSinks; sinks += kWindowStep == 1 ? 1 : 5) {
        check_sizes(Window::band(left, right), sinks, 3);
      }
    }
  }
}

namespace {

class RandomMasks {
 public:
  explicit RandomMasks(unsigned seed) : engine_(seed) {}

  Index from(Index least, Index most) {
    return least + static_cast<Index>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }

  Mask next() {
    const Index n_q = from(0, 2) == 0 ? from(1, 40) : from(1, 400);
    const Index n_k = from(0, 3) == 0 ? n_q : from(0, 400);
    const Index sinks = from(0, 2) == 0 ? from(0, 50) : 0;
    return Mask::make(window(), sinks, n_q, n_k,
                      from(0, 2) == 0 ? Anchor::top_left : Anchor::bottom_right);
  }

  TileShape tile() {
    if (from(0, 3) == 0) return {8 * from(1, 4), 8 * from(1, 4)};
    return {from(1, 24), from(1, 24)};
  }

 private:
  Window window() {
    const auto side = [&] { return from(0, 3) == 0 ? Side::unbounded() : Side::of(from(0, 80)); };
    switch (from(0, 4)) {
      case 0:
        return Window::global();
      case 1:
        return Window::chunked(from(1, from(0, 1) == 0 ? 16 : 100));
      case 2:
        return Window::band(side(), side());
      default:
        return Window::causal(from(1, from(0, 1) == 0 ? 60 : 500));
    }
  }

  std::mt19937_64 engine_;
};

}  // namespace

TEST_CASE("counts of every rule equal a walk over all query tiles") {
  RandomMasks random(1);
  std::array<Index, kRules.size()> checked{};
  for (int i = 0; i < (kWindowStep == 1 ? 100'000 : 20'000); ++i) {
    const Mask mask = random.next();
    const TileShape tile = random.tile();
    for (std::size_t r = 0; r < kRules.size(); ++r) {
      if (not_described(mask, tile, kRules[r])) continue;
      ++checked[r];
      const TileCounts counts = count_tiles(mask, tile, kRules[r]);
      TileCounts walked;
      for (Index q = 0; q < query_tiles(mask, tile); ++q) {
        const Tally one = tally(mask, tile, kRules[r], q);
        walked.visited += one.visited;
        walked.full += one.full;
        walked.partial += one.partial;
        walked.masked += one.masked;
        walked.partial_max_per_query_tile =
            std::max(walked.partial_max_per_query_tile, Count{one.partial});
      }
      const bool equal = counts.visited == walked.visited && counts.full == walked.full &&
                         counts.partial == walked.partial && counts.masked == walked.masked &&
                         counts.partial_max_per_query_tile == walked.partial_max_per_query_tile;
      // What a kernel skips the mask on must be full, and what it skips must be empty.
      const bool sound = counts.masked >= counts.partial && counts.empty >= 0 &&
                         counts.visited - counts.masked <= counts.full;
      if (equal && sound) continue;
      FAIL(name(kRules[r]), " kind ", static_cast<int>(mask.window.kind), " W ", mask.window.width,
           " left ", mask.window.left.reach, " right ", mask.window.right.reach, " n_q ", mask.n_q,
           " n_k ", mask.n_k, " q_offset ", mask.q_offset, " sinks ", mask.sinks, " BM ", tile.BM,
           " BN ", tile.BN);
    }
  }
  for (const Index count : checked) CHECK(count > 1000);
}

namespace {

// The loops of other kernels, stepped through as their source does: the key tiles that are
// visited, from the right, and whether each passes through the mask. Integer division truncates,
// as it does there. n: rows and keys of the problem; window sides as the kernel gets them.
struct Step {
  Index tile;
  bool masked;
  friend bool operator==(const Step&, const Step&) = default;
};

Index up_div(Index a, Index b) {
  return (a + b - 1) / b;  // as cute::ceil_div does, which truncates too
}

// flash_fwd_kernel.h, compute_attn_1rowblock: L and R are -1 for none.
std::vector<Step> fa2_steps(Index n_q, Index n_k, Index L, Index R, TileShape t, Index m) {
  const bool is_causal = L < 0 && R == 0 && n_q > 1,
             is_local = (L >= 0 || R >= 0) && !(L < 0 && R == 0);
  if (is_local && L < 0) L = n_k;
  if (is_local && R < 0) R = n_k;
  const Index begin = !is_local ? 0 : std::max(Index{0}, (m * t.BM + n_k - n_q - L) / t.BN);
  Index end = up_div(n_k, t.BN);
  if (is_causal || is_local) end = std::min(end, up_div((m + 1) * t.BM + n_k - n_q + R, t.BN));
  const bool even = n_q % t.BM == 0 && n_k % t.BN == 0;
  const Index masking = !is_causal && !is_local ? 1
                        : even && is_causal     ? up_div(t.BM, t.BN)
                                                : up_div(t.BM, t.BN) + 1;
  std::vector<Step> steps;
  for (Index n = end - 1; n >= begin; --n) {
    const bool first_loop = static_cast<Index>(steps.size()) < masking;
    // apply_mask does nothing on even sizes without a bound.
    steps.push_back({n, is_local || (first_loop && !(even && !is_causal))});
  }
  return steps;
}

// hopper/block.h and the mainloop: right-masked tiles, unmasked ones, left-masked ones.
std::vector<Step> fa3_steps(Index n_q, Index n_k, Index L, Index R, TileShape t, Index m) {
  if (L >= n_k - 1) L = -1;
  if (R >= n_q - 1) R = -1;
  const bool is_causal = L < 0 && R == 0, is_local = (L >= 0 || R >= 0) && !is_causal;
  if (L < 0) L = n_k - 1;
  if (R < 0) R = n_q - 1;
  const Index first = m * t.BM + n_k - n_q, past = first + t.BM;
  Index end = up_div(n_k, t.BN);
  if (is_causal || is_local) end = std::min(end, up_div(past + (is_local ? R : 0), t.BN));
  const Index begin = is_local ? std::max(Index{0}, (first - L) / t.BN) : 0;
  std::vector<Step> steps;
  if (end <= begin) return steps;
  Index n = end - 1;
  steps.push_back({n--, true});
  if (is_causal || is_local) {
    const Index stop = std::max(begin, (first + (is_local ? R : 0)) / t.BN);
    for (; n >= stop; --n) steps.push_back({n, true});
  }
  const Index unmasked = is_local ? std::max(begin, up_div(past - L, t.BN)) : begin;
  for (; n >= unmasked; --n) steps.push_back({n, false});
  for (; n >= begin; --n) steps.push_back({n, true});
  return steps;
}

// attention/hopper: mainloop.cuh and mainloop_mma.cuh, with a left window or none.
std::vector<Step> flashinfer_steps(Index n_q, Index n_k, Index L, bool causal, TileShape t,
                                   Index m) {
  const bool window = L >= 0;
  Index tiles = up_div(n_k, t.BN);
  if (causal) tiles = std::min(tiles, up_div((m + 1) * t.BM + n_k - n_q, t.BN));
  std::vector<Step> steps;
  if (tiles <= 0) return steps;  // filtered by the scheduler
  const Index begin = window ? std::max((m * t.BM + n_k - n_q - L) / t.BN - 1, Index{0}) : Index{0};
  const Index end = window ? std::max(((m + 1) * t.BM + n_k - n_q - L) / t.BN, Index{-1}) : -1;
  Index kv = tiles - 1;
  steps.push_back({kv, true});
  const Index masking = causal ? up_div(t.BM, t.BN) : 0;
  for (Index i = 0; i < masking && kv > begin; ++i, --kv) steps.push_back({kv - 1, true});
  for (; kv > end + 1 && kv > begin; --kv) steps.push_back({kv - 1, false});
  for (; window && kv > begin; --kv) steps.push_back({kv - 1, true});
  return steps;
}

}  // namespace

TEST_CASE("the rules of other kernels equal their loops stepped through") {
  RandomMasks random(2);
  std::array<Index, 3> checked{};
  for (int i = 0; i < (kWindowStep == 1 ? 200'000 : 10'000); ++i) {
    const Mask mask = random.next();
    const TileShape tile{8 << random.from(0, 2), 8 << random.from(0, 2)};
    const Side left = mask.window.reach_left(), right = mask.window.reach_right();
    const Index L = left.bounded ? left.reach : -1, R = right.bounded ? right.reach : -1;
    for (std::size_t r = 0; r < checked.size(); ++r) {
      const Rule rule = std::array{Rule::fa2, Rule::fa3, Rule::flashinfer}[r];
      if (not_described(mask, tile, rule)) continue;
      // FlashAttention 2 calls a side of n_k or more open; so does 3, in its own loop above.
      const Index L2 = L >= mask.n_k ? -1 : L, R2 = R >= mask.n_k && R > 0 ? -1 : R;
      for (Index m = 0; m < query_tiles(mask, tile); ++m) {
        const std::vector<Step> steps =
            rule == Rule::fa2   ? fa2_steps(mask.n_q, mask.n_k, L2, R2, tile, m)
            : rule == Rule::fa3 ? fa3_steps(mask.n_q, mask.n_k, L, R, tile, m)
                                : flashinfer_steps(mask.n_q, mask.n_k, L, right.bounded, tile, m);
        const TileRange walk = walk_of(mask, tile, rule, m).band;
        const Tally one = tally(mask, tile, rule, m);
        const Index masked =
            std::count_if(steps.begin(), steps.end(), [](const Step& step) { return step.masked; });
        const bool same_tiles = walk.size() == static_cast<Index>(steps.size()) &&
                                (steps.empty() || (walk.begin == steps.back().tile &&
                                                   walk.end == steps.front().tile + 1));
        ++checked[r];
        if (same_tiles && masked == one.masked) continue;
        FAIL(name(rule), " tile ", m, " L ", L, " R ", R, " n_q ", mask.n_q, " n_k ", mask.n_k,
             " BM ", tile.BM, " BN ", tile.BN, ": walk ", walk.begin, " ", walk.end, " masked ",
             one.masked, " steps ", steps.size(), " masked ", masked);
      }
    }
  }
  for (const Index count : checked) CHECK(count > 10'000);
}

TEST_CASE("counts go on repeating at any length") {
  // At a length that can be walked and at one that cannot: the difference is whole periods.
  for (const Window window : {Window::causal(1000), Window::chunked(768), Window::global(),
                              Window::band(Side::of(100), Side::of(300))}) {
    const TileShape tile{192, 128};
    const auto counts = [&](Index n) {
      return count_tiles(Mask::make(window, 4, n, n, Anchor::bottom_right), tile);
    };
    const Index step = 192 * 128 * 3;  // rows and keys, a multiple of every period
    const TileCounts a = counts(20 * step), b = counts(21 * step), c = counts(22 * step);
    const Index far = Index{1} << 24;
    const TileCounts d = counts((20 + far) * step);
    const auto extrapolated = [far](Count x, Count y, Count z) {
      return x + (y - x) * far + (z - 2 * y + x) * (Count{far} * (far - 1) / 2);
    };
    CHECK(d.visited == extrapolated(a.visited, b.visited, c.visited));
    CHECK(d.full == extrapolated(a.full, b.full, c.full));
    CHECK(d.skipped == extrapolated(a.skipped, b.skipped, c.skipped));
  }
}
