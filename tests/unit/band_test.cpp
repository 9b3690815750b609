// What the band kernel for Hopper is launched with, and that its ring never stands still. No GPU.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "kernels/launch/band.hpp"
#include "kernels/launch/dispatch.hpp"
#include "kernels/launch/plan.hpp"
#include "kernels/sm90/band_columns.hpp"
#include "problem/problem.hpp"
#include "problem/random_problems.hpp"

using namespace swa;

namespace {

Problem layer(Index heads_q, Index heads_kv, Index head_dim, Index window, Index tokens) {
  Problem p;
  p.heads_q = heads_q;
  p.heads_kv = heads_kv;
  p.head_dim = head_dim;
  p.window = Window::causal(window);
  p.n_q = p.n_k = tokens;
  p.dtype = Dtype::bf16;
  return p;
}

std::optional<std::string> refusal(const Problem& p) {
  return band_unsupported(p, kHopper);
}

// The tiles of each segment of a block, as BandWalk cuts its run of units.
std::vector<int> segments_of(const Problem& p, const BandPlan& plan, int block) {
  const Index groups = p.heads_kv * plan.head_groups;
  const auto rounds_of = [&](Index sequence) {
    return ceil_div(ceil_div(p.queries(sequence), plan.positions), plan.tile.warpgroups);
  };
  std::vector<int> segments;
  Index unit = plan.units * block / plan.blocks;
  const Index end = plan.units * (block + 1) / plan.blocks;
  Index before = 0, sequence = 0;
  while (unit < end) {
    while (unit >= before + groups * rounds_of(sequence)) {
      before += groups * rounds_of(sequence++);
    }
    const Index rounds = rounds_of(sequence), round = (unit - before) % rounds;
    const Index count = smaller(end - unit, rounds - round);
    const Index first = round * plan.tile.warpgroups * plan.positions;
    const Index tiles = ceil_div(p.queries(sequence) - first, plan.positions);
    segments.push_back(static_cast<int>(smaller(count * plan.tile.warpgroups, tiles)));
    unit += count;
  }
  return segments;
}

// The block as band.cuh has it: one loader and its warpgroups, each of which does a step when it
// may. What they wait for are counts of entries and of tiles of Q; nobody looks ahead.
class Block {
 public:
  Block(const BandPlan& plan, std::vector<int> segments)
      : plan_(plan),
        segments_(std::move(segments)),
        freed_(static_cast<std::size_t>(plan.tile.warpgroups), 0),
        q_freed_(freed_) {
    for (int w = 0; w < plan.tile.warpgroups; ++w) plan_warpgroup(w);
    plan_loader();
  }

  // Whether all of them come to their end.
  bool ends() {
    std::vector<std::size_t> at(scripts_.size(), 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t i = 0; i < scripts_.size(); ++i) {
        while (at[i] < scripts_[i].size() && scripts_[i][at[i]].may()) {
          scripts_[i][at[i]++].go();
          moved = true;
        }
      }
    }
    for (std::size_t i = 0; i < scripts_.size(); ++i) {
      if (at[i] < scripts_[i].size()) return false;
    }
    return true;
  }

 private:
  struct Step {
    std::function<bool()> may;
    std::function<void()> go;
  };
  using Script = std::vector<Step>;

  int entries_of(int tiles) const {
    return static_cast<int>(
        ceil_div(plan_.history() + Index{tiles} * plan_.positions, plan_.tile.entry));
  }

  void plan_loader() {
    Script script;
    int entry = 0, turn = 0;
    for (const int tiles : segments_) {
      const int rounds = static_cast<int>(ceil_div(tiles, plan_.tile.warpgroups));
      for (int e = 0, round = 0; e < entries_of(tiles); ++e, ++entry) {
        script.push_back({[this, entry] {
                            const int oldest = *std::min_element(freed_.begin(), freed_.end());
                            return entry - oldest < plan_.slots;
                          },
                          [this] { ++filled_; }});
        const int loaded = (e + 1) * plan_.tile.entry - plan_.history();
        for (; round < rounds && (round * plan_.tile.warpgroups + 1) * plan_.positions <= loaded;
             ++round, ++turn) {
          script.push_back({[this, turn] {
                              const int oldest =
                                  *std::min_element(q_freed_.begin(), q_freed_.end());
                              return turn - oldest < plan_.query_stages;
                            },
                            [this] { ++q_filled_; }});
        }
      }
    }
    scripts_.push_back(std::move(script));
  }

  void plan_warpgroup(int w) {
    Script script;
    int base = 0, turn = 0, freed = 0;
    const auto index = static_cast<std::size_t>(w);
    const auto free_until = [&](int entry) {
      for (; freed < entry; ++freed) {
        script.push_back(
            {[this, freed] { return filled_ > freed; }, [this, index] { ++freed_[index]; }});
      }
    };
    for (const int tiles : segments_) {
      const int rounds = static_cast<int>(ceil_div(tiles, plan_.tile.warpgroups));
      int tile = w;
      const auto first_entry = [&](int of_tile) {
        return base + std::min(of_tile * plan_.positions / plan_.tile.entry, entries_of(tiles));
      };
      if (tile < tiles) free_until(first_entry(tile));
      for (; tile < tiles; ++turn) {
        const int last = base + entries_of(tile + 1);
        script.push_back({[this, last, turn] { return filled_ >= last && q_filled_ > turn; },
                          [this, index] { ++q_freed_[index]; }});
        tile += plan_.tile.warpgroups;
        free_until(first_entry(tile));
      }
      if (tile < rounds * plan_.tile.warpgroups) {
        script.push_back(
            {[this, turn] { return q_filled_ > turn; }, [this, index] { ++q_freed_[index]; }});
        ++turn;
      }
      base += entries_of(tiles);
      free_until(base);
    }
    scripts_.push_back(std::move(script));
  }

  const BandPlan& plan_;
  std::vector<int> segments_;
  std::vector<Script> scripts_;
  int filled_ = 0, q_filled_ = 0;
  std::vector<int> freed_, q_freed_;  // by each warpgroup
};

void check_plan(const Problem& p) {
  CAPTURE(options(p));
  const BandPlan plan = plan_band(p, kHopper);
  CHECK(plan.smem_bytes() <= kHopper.shared_per_block);
  CHECK(plan.heads * plan.positions == BandTile::kRows);
  CHECK(plan.heads * plan.head_groups >= p.group());
  CHECK(plan.heads <= 2 * p.group());
  // The band of a tile: from the first key of its first row to the diagonal of its last.
  const Index width = smaller(p.window.width, larger(p.n_q, p.n_k));
  CHECK(plan.history() >= width - 1);
  CHECK(plan.history() + plan.positions == 8 * plan.tile.blocks * plan.passes);
  CHECK(plan.slots * plan.tile.entry >= plan.history() + plan.positions);
  // What is hidden from no row is seen by all, column by column and block by block. Columns before
  // the band's first are keys that do not exist.
  const auto columns = sm90::BandColumns::of(plan.history(), p.window.width, plan.positions);
  const auto seen_by_all = [&](int column) {
    for (int i = 0; i < plan.positions; ++i) {
      // The row's own key has column history + i.
      const int distance = plan.history() + i - column;
      if (distance < 0 || distance > plan.history() || distance >= p.window.width) return false;
    }
    return true;
  };
  for (int first = 0; first < plan.history() + plan.positions; first += 8) {
    bool all = true;
    for (int column = first; column < first + 8; ++column) {
      CHECK(columns.all_see(column, 1) == seen_by_all(column));
      all = all && seen_by_all(column);
    }
    CHECK(columns.all_see(first, 8) == all);
  }
  if (plan.units == 0) return;
  Index tiles = 0, expected = 0;
  for (int block = 0; block < plan.blocks; ++block) {
    const std::vector<int> segments = segments_of(p, plan, block);
    for (const int count : segments) tiles += count;
    if (block == 0 || block == plan.blocks / 2 || block == plan.blocks - 1) {
      CHECK(Block(plan, segments).ends());
    }
  }
  for (Index s = 0; s < p.batch; ++s) {
    expected += p.heads_kv * plan.head_groups * ceil_div(p.queries(s), plan.positions);
  }
  CHECK(tiles == expected);
}

}  // namespace

TEST_CASE("the layers of gpt-oss take one pass, and shared memory holds their band") {
  const Problem p = layer(64, 8, 64, 128, 32768);
  REQUIRE(!refusal(p));
  const BandPlan plan = plan_band(p, kHopper);
  CHECK(plan.tile.merged);
  CHECK(plan.passes == 1);
  CHECK(plan.heads == 8);
  CHECK(plan.positions == 8);
  CHECK(plan.history() == 128);
  CHECK(plan.blocks == 128);  // eight heads on 132 multiprocessors: four idle, no head is cut
  CHECK(plan.units == 8 * 1024);
  // 136 keys for each of 64 rows, of which 128 are seen.
  CHECK(issued_pairs(p, plan) == doctest::Approx(64.0 * 32768 * 136));
}

TEST_CASE("windows that the ring holds, by group and head_dim") {
  const auto widest = [](Index heads_q, Index heads_kv, Index head_dim) {
    Index width = 0;
    for (Index w = 1; w < 1024; ++w) {
      if (!refusal(layer(heads_q, heads_kv, head_dim, w, 32768))) width = w;
    }
    return width;
  };
  CHECK(widest(64, 8, 64) >= 512);
  CHECK(widest(32, 8, 64) >= 512);
  CHECK(widest(16, 8, 64) == 505);
  CHECK(widest(8, 8, 64) >= 400);
  CHECK(widest(64, 8, 128) >= 200);
  CHECK(widest(32, 8, 128) >= 200);
  CHECK(refusal(layer(64, 8, 64, 1024, 32768)) ==
        "keeps the window in shared memory, which is too small for 1024 keys");
  // Rather than computing one head in a tile of eight, which would fit.
  CHECK(refusal(layer(32, 32, 128, 200, 32768)).has_value());
  // A window that holds all keys is as wide as they are.
  CHECK(!refusal(layer(64, 8, 64, 1024, 300)));
}

TEST_CASE("every plan's ring holds its band, and no order of its barriers stands still") {
  for (const Index group : {1, 2, 3, 4, 5, 7, 8, 12, 16}) {
    for (const Index head_dim : {64, 128}) {
      for (const Index width : {1, 16, 57, 64, 100, 127, 128, 129, 200, 256, 512}) {
        for (const Index tokens : {1, 129, 1000, 4136}) {
          Problem p = layer(2 * group, 2, head_dim, width, tokens);
          p.batch = tokens < 200 ? 3 : 1;
          if (!refusal(p)) check_plan(p);
        }
      }
    }
  }
}

TEST_CASE("so for random problems, batches of uneven lengths among them") {
  int checked = 0;
  RandomProblems random(5);
  for (int i = 0; i < 4000; ++i) {
    Problem p = random.next();
    // What the kernel does not compute has no part in its plan.
    p.dtype = Dtype::fp16;
    p.sinks = 0;
    p.head_dim = p.head_dim <= 64 ? 64 : 128;
    p.head_dim_v.reset();
    p.cache = {};
    if (refusal(p)) continue;
    check_plan(p);
    ++checked;
  }
  CHECK(checked > 1000);
}

TEST_CASE("what the band kernel refuses") {
  const Problem p = layer(64, 8, 64, 128, 4096);
  const auto with = [&](auto change) {
    Problem other = p;
    change(other);
    return refusal(other).value_or("");
  };
  CHECK(with([](Problem&) {}).empty());
  CHECK(with([](Problem& o) { o.dtype = Dtype::fp32; }) == "computes bf16 and fp16, not fp32");
  CHECK(with([](Problem& o) { o.window = Window::global(); }) == "computes causal windows only");
  CHECK(with([](Problem& o) { o.sinks = 4; }) == "computes no sink tokens");
  CHECK(with([](Problem& o) { o.head_dim = 96; }) ==
        "has instances for head_dim 64 and 128, not 96");
  CHECK(with([](Problem& o) { o.cache.kind = CacheKind::ring; }) ==
        "reads K and V of a contiguous cache only");
  CHECK(with([](Problem& o) { o.n_k = kMaxIndex; }) ==
        "counts tokens, heads and sequences in 32 bits");
  CHECK(with([](Problem& o) {
          o.batch = 1 << 20;
          o.n_q = 1 << 20;
          o.n_k = 1 << 20;
        }) == "counts its tiles in 32 bits");
  CHECK(with([](Problem& o) {
          o.batch = o.n_q = o.n_k = o.heads_q = o.heads_kv = 2'000'000'000;
        }) == "counts its tiles in 32 bits");
  CHECK(band_unsupported(p, kGpuModels[0]) == "is for Hopper, whose instructions it uses");
}

TEST_CASE("a problem goes to the kernel that was measured to be the fastest for it") {
  CHECK(dispatch(layer(64, 8, 64, 128, 32768), kHopper).kernel == "sm90-band");
  CHECK(dispatch(layer(64, 8, 64, 128, 32768), kGpuModels[0]).kernel == "portable-prefill");
  const Dispatch wide = dispatch(layer(64, 8, 64, 1024, 32768), kHopper);
  CHECK(wide.kernel == "portable-prefill");
  CHECK(wide.reason ==
        "sm90-band keeps the window in shared memory, which is too small for 1024 keys");
  Problem step = layer(64, 8, 64, 128, 8192);
  step.n_q = 1;
  CHECK(dispatch(step, kHopper).kernel == "portable-decode");
  Problem fp64 = step;
  fp64.dtype = Dtype::fp64;
  CHECK(dispatch(fp64, kHopper).kernel.empty());
  // Of all that are planned, exactly the chosen one has the name.
  Index chosen = 0;
  for (const LaunchPlan& plan : launch_plans(step, kHopper)) {
    chosen += plan.kernel == dispatch(step, kHopper).kernel;
  }
  CHECK(chosen == 1);
}
