#include "tiles/counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "error.hpp"

namespace swa {
namespace {

constexpr Index kMostTallies = Index{1} << 26;

// Sum over p = first .. first + count - 1 of clamp(p, 0, top).
Count sum_of_clamped(Index first, Index count, Index top) {
  const auto sum_below = [top](Index end) -> Count {  // over p < end, in closed form
    if (end <= 0) return 0;
    const Count rising = smaller(end, top + 1);
    return rising * (rising - 1) / 2 + (end - rising) * top;
  };
  return sum_below(first + count) - sum_below(first);
}

// The same of the first position of p's chunk of C, clamp(p / C * C, 0, top).
Count sum_of_chunk_begins(Index first, Index count, Index C, Index top) {
  const auto sum_below = [=](Index end) -> Count {
    if (end <= 0) return 0;
    const Index chunk = smaller(end / C, ceil_div(top, C));  // whole chunks that begin below top
    const Count whole = Count{C} * chunk * (Count{C} * (chunk - 1)) / 2;
    const Count rest = Count{end} - Count{C} * chunk;
    return whole + rest * smaller(top, C * chunk);
  };
  return sum_below(first + count) - sum_below(first);
}

// Query tiles after which all bounds have moved by whole key tiles and whole chunks.
Index period_of(const Mask& mask, TileShape tile) {
  const Count whole_grid = query_tiles(mask, tile);
  Count step = tile.BN;  // keys
  if (mask.window.kind == Window::Kind::chunked) {
    step = Count{tile.BN} / std::gcd(tile.BN, mask.window.width) * mask.window.width;
  }
  const Index common = static_cast<Index>(step % tile.BM);
  const Count period = step / std::gcd(common, tile.BM);
  return static_cast<Index>(std::min(period, whole_grid));
}

// The keys at which something is clipped, or one loop of a kernel gives way to the next.
std::vector<Index> places(const Mask& mask, TileShape tile, Rule rule) {
  const Index n_k = mask.n_k, BN = tile.BN, sinks = smaller(mask.sinks, n_k);
  const auto up = [BN](Index key) { return ceil_div(key, BN) * BN; };
  std::vector<Index> keys{0, n_k};
  if (sinks > 0) keys.insert(keys.end(), {sinks, up(sinks)});
  if (rule == Rule::exact) return keys;
  // FlashInfer begins one tile early, and divides as C does below 0; the last tile, and those
  // beside the diagonal, have loops of their own.
  const Index last = larger(0, n_k - 1) / BN * BN;
  keys.insert(keys.end(), {-BN, BN, 2 * BN, last, last - up(tile.BM)});
  return keys;
}

// The first query tiles of the stretches on which every bound of a tile, in keys, either stays or
// moves by BM from tile to tile: those at which a bound reaches one of the places, or passes it.
// Some are named that change nothing. Sorted; 0 and `whole` are among them.
std::vector<Index> stretches(const Mask& mask, TileShape tile, Rule rule, Index whole) {
  const Side left = mask.window.reach_left(), right = mask.window.reach_right();
  const bool chunked = mask.window.kind == Window::Kind::chunked;
  const Index C = mask.window.width, n_k = mask.n_k;
  std::vector<Index> begins{0, whole};
  const auto pass = [&](Index bound, Index place) {  // `bound` is that of tile 0
    // Reached and passed; the kernels of other rules also count from one key further.
    for (Index key = place - (rule != Rule::exact); key <= place + 1 + (rule != Rule::exact);
         ++key) {
      const Index at = key <= bound ? 0 : ceil_div(key - bound, tile.BM);
      if (at < whole) begins.push_back(at);
    }
  };
  for (const Index key : places(mask, tile, rule)) {
    for (const Index row : {Index{0}, tile.BM - 1}) {  // the first and the last of a tile
      const Index query = mask.q_offset + row;
      if (left.bounded) pass(query - left.reach, key);
      if (right.bounded) pass(query + right.reach + 1, key);
      if (rule == Rule::fa3) {  // what an open side is called
        pass(query - (n_k - 1), key);
        pass(query + mask.n_q, key);
      }
      if (chunked) pass(query, ceil_div(larger(0, key), C) * C);
    }
  }
  std::sort(begins.begin(), begins.end());
  begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
  return begins;
}

// Adds up what query tiles contribute.
class Sums {
 public:
  void add(const Tally& one) { add(one, one, 1); }

  // `times` tiles, one a period, that begin with `first` and `second` and go on in equal steps.
  void add(const Tally& first, const Tally& second, Count times) {
    const auto sum = [times](Index a, Index b) {
      return times * a + Count{b - a} * (times * (times - 1) / 2);
    };
    counts_.visited += sum(first.visited, second.visited);
    counts_.full += sum(first.full, second.full);
    counts_.partial += sum(first.partial, second.partial);
    counts_.masked += sum(first.masked, second.masked);
    // The PARTIAL tiles of a query tile lie along the edges of the mask and do not grow.
    counts_.partial_max_per_query_tile =
        std::max({counts_.partial_max_per_query_tile, Count{first.partial}, Count{second.partial}});
  }

  TileCounts counts_of(const Mask& mask, TileShape tile) {
    counts_.empty = counts_.visited - counts_.full - counts_.partial;
    counts_.skipped = Count{query_tiles(mask, tile)} * key_tiles(mask, tile) - counts_.visited;
    return counts_;
  }

 private:
  TileCounts counts_;
};

}  // namespace

TileCounts& TileCounts::operator+=(const TileCounts& other) {
  full += other.full;
  partial += other.partial;
  empty += other.empty;
  skipped += other.skipped;
  visited += other.visited;
  masked += other.masked;
  partial_max_per_query_tile =
      std::max(partial_max_per_query_tile, other.partial_max_per_query_tile);
  return *this;
}

Count product(Count count, Index times) {
  Count result = 0;
  if (!__builtin_mul_overflow(count, Count{times}, &result)) return result;
  throw UsageError("a count passes 2^127", "ask for fewer layers, or a shorter sequence");
}

TileCounts operator*(TileCounts counts, Index times) {
  for (Count* count : {&counts.full, &counts.partial, &counts.empty, &counts.skipped,
                       &counts.visited, &counts.masked}) {
    *count = product(*count, times);
  }
  return counts;
}

TileCounts count_tiles(const Mask& mask, TileShape tile, Rule rule) {
  if (const auto reason = not_described(mask, tile, rule)) {
    throw UsageError(fmt::format("--rule {}: {}", name(rule), *reason),
                     "--rule exact counts what the mask needs");
  }
  const Index whole = mask.n_q / tile.BM;  // tiles that do not hang over the last row
  const Index period = period_of(mask, tile);
  const std::vector<Index> begins = stretches(mask, tile, rule, whole);
  Count looked_at = 0;
  for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
    looked_at += std::min(Count{begins[s + 1] - begins[s]}, 2 * Count{period});
  }
  if (looked_at > kMostTallies) {
    throw UsageError(
        fmt::format(
            "tiles of {} x {} repeat only after {} query tiles, and {} would be counted one "
            "by one, more than 2^26",
            tile.BM, tile.BN, period, looked_at),
        "choose BM, BN and the chunk with a common factor, or fewer rows");
  }

  Sums sums;
  const auto at = [&](Index i) { return tally(mask, tile, rule, i); };
  for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
    const Index begin = begins[s], tiles = begins[s + 1] - begin;
    if (tiles < 2 * period) {
      for (Index i = 0; i < tiles; ++i) sums.add(at(begin + i));
      continue;
    }
    for (Index phase = 0; phase < period; ++phase) {
      const Index times = tiles / period + (phase < tiles % period ? 1 : 0);
      sums.add(at(begin + phase), at(begin + period + phase), times);
    }
  }
  if (whole < query_tiles(mask, tile)) sums.add(at(whole));
  return sums.counts_of(mask, tile);
}

Count visible_pairs(const Mask& mask) {
  const Side left = mask.window.reach_left(), right = mask.window.reach_right();
  const bool chunked = mask.window.kind == Window::Kind::chunked;
  const auto begins = [&](Index top) -> Count {
    if (chunked) return sum_of_chunk_begins(mask.q_offset, mask.n_q, mask.window.width, top);
    return left.bounded ? sum_of_clamped(mask.q_offset - left.reach, mask.n_q, top) : 0;
  };
  const Count ends = right.bounded
                         ? sum_of_clamped(mask.q_offset + right.reach + 1, mask.n_q, mask.n_k)
                         : Count{mask.n_q} * mask.n_k;
  return ends - begins(mask.n_k) + begins(smaller(mask.sinks, mask.n_k));
}

Index live_keys(const Mask& mask) {
  return keys_seen(mask).size();
}

double sparsity_percent(Count pairs, TileShape tile, Count visited) {
  const double computed =
      static_cast<double>(visited) * static_cast<double>(tile.BM) * static_cast<double>(tile.BN);
  return 100 * (1 - computed / static_cast<double>(pairs));
}

double useful_fraction(Count visible, TileShape tile, Count visited) {
  if (visited == 0) return 0;
  return static_cast<double>(visible) / static_cast<double>(visited) /
         (static_cast<double>(tile.BM) * static_cast<double>(tile.BN));
}

Work& Work::operator+=(const Work& other) {
  useful_flops += other.useful_flops;
  issued_flops += other.issued_flops;
  least_bytes += other.least_bytes;
  walked_bytes += other.walked_bytes;
  return *this;
}

Work work_of(const Mask& mask, TileShape tile, Count visited, Index head_dim, Index head_dim_v,
             Index bytes_per_element) {
  const double dims = static_cast<double>(head_dim) + static_cast<double>(head_dim_v);
  const double bytes_per_token = dims * static_cast<double>(bytes_per_element);
  const double issued_pairs =
      static_cast<double>(visited) * static_cast<double>(tile.BM) * static_cast<double>(tile.BN);
  // Q and O together are as wide as K and V together.
  const double q_and_o = static_cast<double>(mask.n_q) * bytes_per_token;
  return {2 * dims * static_cast<double>(visible_pairs(mask)), 2 * dims * issued_pairs,
          q_and_o + static_cast<double>(live_keys(mask)) * bytes_per_token,
          q_and_o + static_cast<double>(visited) * static_cast<double>(tile.BN) * bytes_per_token};
}

}  // namespace swa
