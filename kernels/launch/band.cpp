#include "kernels/launch/band.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "problem/problem.hpp"

namespace swa {
namespace {

// Positions, keys and units are counted in 32 bits, with room for a tile beyond the last.
constexpr Index kMostTokens = std::numeric_limits<std::int32_t>::max() - 4096;
constexpr double kMostUnits = std::numeric_limits<std::int32_t>::max() / 2;
constexpr int kMostHeads = 8;
constexpr int kMostStages = 2;

// The shape of the problem's tiles with an instance; no passes where its ring is too small.
struct BandShape {
  int instance = 0;
  BandTile tile;
  int heads = 0, head_groups = 0, passes = 0, slots = 0, stages = 0;

  int positions() const { return BandTile::kRows / heads; }
  int history() const { return 8 * tile.blocks * passes - positions(); }
  // Blocks of keys that are computed for one position of all heads of a group.
  double cost() const {
    return static_cast<double>(head_groups) * passes * tile.blocks / positions();
  }
};

// Entries that hold what a tile reads, wherever it begins in the first of them: with one more the
// ring goes on. From one tile of a warpgroup to its next is less than a ring.
int least_slots(const BandShape& s) {
  const int read = (s.history() + s.positions() + s.tile.entry - 2) / s.tile.entry + 1;
  return std::max(read, s.tile.warpgroups * s.positions() / s.tile.entry + 1);
}
// Entries that keep all warpgroups at work and the next entry under way.
int wanted_slots(const BandShape& s) {
  return least_slots(s) + (s.tile.warpgroups * s.positions() + s.tile.entry - 1) / s.tile.entry;
}

int slots_that_fit(const BandTile& tile, int stages, int bytes) {
  const int free = bytes - tile.smem_bytes(0, stages);
  return free / (2 * tile.halves() * tile.entry_bytes() + 16);
}

BandShape shape_with(const Problem& p, int instance, int heads, const GpuModel& gpu) {
  const BandTile& tile = kBandTiles[static_cast<std::size_t>(instance)];
  BandShape s;
  s.instance = instance;
  s.tile = tile;
  s.heads = heads;
  s.head_groups = static_cast<int>(ceil_div(p.group(), heads));
  // No row looks back further than to the first key.
  const Index width = smaller(p.window.width, larger(p.n_q, p.n_k));
  const Index band = width - 1 + s.positions();
  // A tile that were less than half full would cost more than the ring saves.
  if (heads > 2 * p.group()) return s;
  const Index passes = ceil_div(band, 8 * tile.blocks);
  if (passes > 64) return s;
  if (tile.merged && !(passes == 1 && heads == kMostHeads && band == 8 * tile.blocks - 1)) return s;
  s.passes = static_cast<int>(passes);
  for (int stages = kMostStages; stages > 0; --stages) {
    s.stages = stages;
    s.slots = slots_that_fit(tile, stages, gpu.shared_per_block);
    if (s.slots >= wanted_slots(s)) break;
  }
  if (s.slots < least_slots(s)) s.passes = 0;
  // More would only be loaded early.
  s.slots = std::min(s.slots, 2 * wanted_slots(s));
  return s;
}

// The shape that computes the fewest keys for a position; none with passes where no ring is large
// enough.
BandShape best_shape(const Problem& p, const GpuModel& gpu) {
  BandShape best;
  for (int instance = 0; instance < static_cast<int>(kBandTiles.size()); ++instance) {
    if (kBandTiles[static_cast<std::size_t>(instance)].head_dim != p.head_dim) continue;
    for (int heads = kMostHeads; heads > 0; heads /= 2) {
      const BandShape one = shape_with(p, instance, heads, gpu);
      if (one.passes > 0 && (best.passes == 0 || one.cost() < best.cost())) best = one;
    }
  }
  return best;
}

Index rounds_of(Index queries, const BandShape& s) {
  return ceil_div(ceil_div(queries, s.positions()), s.tile.warpgroups);
}

// As a double: what is refused may be beyond 2^63.
double units_of(const Problem& p, const BandShape& s) {
  const double groups = static_cast<double>(p.heads_kv) * s.head_groups;
  if (!p.has_lengths()) {
    return static_cast<double>(p.batch) * groups * static_cast<double>(rounds_of(p.n_q, s));
  }
  double units = 0;
  for (Index b = 0; b < p.batch; ++b) {
    units += groups * static_cast<double>(rounds_of(p.queries(b), s));
  }
  return units;
}

// As many blocks as there are multiprocessors; fewer, a multiple of the head groups, where each
// block then owns whole runs of one head group at hardly any more units.
Index grid_of(Index units, Index groups, const GpuModel& gpu) {
  const Index all = std::min<Index>(units, gpu.multiprocessors);
  const Index even = all / groups * groups;
  if (even == 0) return all;
  return ceil_div(units, even) * 100 <= ceil_div(units, all) * 103 ? even : all;
}

}  // namespace

std::optional<std::string> band_unsupported(const Problem& p, const GpuModel& gpu) {
  if (!gpu.arch.starts_with("sm_90")) return "is for Hopper, whose instructions it uses";
  if (p.dtype != Dtype::bf16 && p.dtype != Dtype::fp16) {
    return fmt::format("computes bf16 and fp16, not {}", name(p.dtype));
  }
  if (p.window.kind != Window::Kind::causal) return "computes causal windows only";
  if (p.sinks > 0) return "computes no sink tokens";
  if (p.head_dim != p.value_dim() || (p.head_dim != 64 && p.head_dim != 128)) {
    return fmt::format("has instances for head_dim 64 and 128, not {}", p.head_dim);
  }
  if (p.cache.kind != CacheKind::contiguous) return "reads K and V of a contiguous cache only";
  if (larger(p.n_q, p.n_k) > kMostTokens || larger(p.heads_q, p.batch) > kMostTokens) {
    return "counts tokens, heads and sequences in 32 bits";
  }
  const BandShape s = best_shape(p, gpu);
  if (s.passes == 0) {
    return fmt::format("keeps the window in shared memory, which is too small for {} keys",
                       p.window.width);
  }
  if (units_of(p, s) > kMostUnits) return "counts its tiles in 32 bits";
  return std::nullopt;
}

BandPlan plan_band(const Problem& p, const GpuModel& gpu) {
  const BandShape s = best_shape(p, gpu);
  BandPlan plan;
  plan.instance = s.instance;
  plan.tile = s.tile;
  plan.heads = s.heads;
  plan.positions = s.positions();
  plan.head_groups = s.head_groups;
  plan.passes = s.passes;
  plan.slots = s.slots;
  plan.query_stages = s.stages;
  plan.units = static_cast<Index>(units_of(p, s));
  const Index groups = p.heads_kv * s.head_groups;
  if (p.has_lengths()) {
    plan.first_unit.push_back(0);
    for (Index b = 0; b < p.batch; ++b) {
      const Index units = groups * rounds_of(p.queries(b), s);
      plan.first_unit.push_back(plan.first_unit.back() + static_cast<int>(units));
    }
  } else {
    plan.rounds = static_cast<int>(rounds_of(p.n_q, s));
  }
  plan.blocks = static_cast<int>(grid_of(plan.units, groups, gpu));
  return plan;
}

double issued_pairs(const Problem& p, const BandPlan& plan) {
  double tiles = 0;
  for (const SharedMask& s : shared_masks(p)) {
    tiles += static_cast<double>(s.sequences) *
             static_cast<double>(ceil_div(s.mask.n_q, plan.positions));
  }
  return tiles * static_cast<double>(p.heads_kv) * plan.head_groups * BandTile::kRows *
         (8.0 * plan.tile.blocks * plan.passes);
}

Index band_granule() {
  Index keys = 0;
  for (const BandTile& tile : kBandTiles) {
    // A pass may begin 8 * blocks - 1 keys before the band does, and a band is wider than a window
    // by the positions of its tile.
    keys = larger(keys, tile.merged ? Index{7} : 8 * tile.blocks + BandTile::kRows - 2);
  }
  return keys;
}

}  // namespace swa
