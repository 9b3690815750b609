// What is planted in the CUDA prefill kernel is what the catalogue says, as far as the host can
// tell: by the keys that a row meets on the walk of its block.
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "commands/gpu_kill_rows.hpp"
#include "kernels/forward.hpp"
#include "kernels/launch/planted.hpp"
#include "kernels/portable/plant.cuh"
#include "problem/cases.hpp"
#include "problem/random_problems.hpp"
#include "verify/faults.hpp"
#include "verify/traps.hpp"

using namespace swa;

namespace {

// In rows of k; the kernel walks over the tiles of its block and reads what the block wants.
template <Planted kPlanted>
KeyRuns keys_met(const Problem& p, const Sequence& s, Index row) {
  const TileShape tile = plan_prefill(p).shape();
  const auto BN = static_cast<int>(tile.BN);
  Mask mask = s.mask;
  portable::plant<kPlanted>(mask);
  portable::Visits visits = portable::visits_of(mask, tile, row / tile.BM, TileLoop::window);
  portable::plant<kPlanted>(visits, BN);
  portable::Keys bounds{static_cast<int>(band_begin(mask, row)),
                        static_cast<int>(band_end(mask, row))};
  portable::plant<kPlanted>(bounds, band_begin(mask, row / tile.BM * tile.BM), BN);
  KeyRuns runs;
  for (int visit = 0; visit < visits.count; ++visit) {
    const int first = visits.tile(visit) * BN;
    for (int key = first; key < first + BN; ++key) {
      if (!portable::sees_key(bounds, static_cast<int>(mask.sinks), key)) continue;
      REQUIRE(visits.wants(key));
      append(runs, {s.k_row + key, s.k_row + key + 1, 1});
    }
  }
  return runs;
}

// Rows whose keys are not those of the fault, and rows that the fault changes.
struct Compared {
  Index rows = 0, other = 0, changed = 0;
};

template <Planted kPlanted>
void compare(const Problem& p, std::string_view name, Compared& found) {
  const TileShape tile = planted_tile(p, kPlanted);
  FaultSet faults;
  if (!name.empty()) faults.push_back(&fault(name));
  const Plan plan = plan_of(p, tile, faults), right = plan_of(p, tile);
  for (const Sequence& s : sequences(p)) {
    if (rows_without_keys(s.mask) > 0) continue;
    for (Index row = 0; row < s.mask.n_q; ++row) {
      const KeyRuns expected = planned_keys(plan, s.batch, 0, s.q_row + row);
      const KeyRuns met = keys_met<kPlanted>(p, s, row);
      ++found.rows;
      found.other += met != expected;
      found.changed += expected != planned_keys(right, s.batch, 0, s.q_row + row);
      if (met != expected && found.other == 1) MESSAGE("first other: ", options(p), " row ", row);
    }
  }
}

Problem planted_problem(Problem p) {
  p.dtype = Dtype::bf16;
  p.head_dim_v.reset();
  if (p.head_dim != 128) p.head_dim = 64;
  return p;
}

std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (const Case& c : read_cases(SWA_SOURCE_DIR "/data/cases/full.toml")) {
    all.push_back(planted_problem(c.problem));
  }
  RandomProblems random(61);
  for (int i = 0; i < 300; ++i) all.push_back(planted_problem(random.next()));
  return all;
}

template <Planted kPlanted>
Compared compared(std::string_view name) {
  Compared found;
  for (const Problem& p : problems()) compare<kPlanted>(p, name, found);
  return found;
}

}  // namespace

// Whether a row is NaN without the guard: where the first tile that its warp does not skip holds
// none of its keys.
bool is_lost(const Problem& p, const Mask& mask, Index row) {
  const PrefillPlan plan = plan_prefill(p);
  const TileShape tile = plan.shape();
  const auto BN = static_cast<int>(tile.BN), sinks = static_cast<int>(mask.sinks);
  const auto bounds_of = [&](Index position) {
    return portable::Keys{static_cast<int>(band_begin(mask, position)),
                          static_cast<int>(band_end(mask, position))};
  };
  const Index query_tile = row / tile.BM, first_row = query_tile * tile.BM;
  const Index rows = smaller(tile.BM, mask.n_q - first_row) * plan.heads;
  const Index size = 16 * prefill_tile(p.head_dim, p.value_dim()).fragments();
  const Index warp = (row - first_row) * plan.heads / size;
  portable::Keys any{INT32_MAX, 0};
  for (Index r = warp * size; r < smaller((warp + 1) * size, rows); ++r) {
    const portable::Keys other = bounds_of(first_row + r / plan.heads);
    any = {std::min(any.begin, other.begin), std::max(any.end, other.end)};
  }
  const portable::Keys own = bounds_of(row);
  const portable::Visits visits = portable::visits_of(mask, tile, query_tile, TileLoop::window);
  for (int visit = 0; visit < visits.count; ++visit) {
    const int first = visits.tile(visit) * BN;
    if (first >= any.end || (first + BN <= any.begin && first >= sinks)) continue;
    for (int key = first; key < first + BN; ++key) {
      if (portable::sees_key(own, sinks, key)) return false;
    }
    return true;
  }
  return false;
}

TEST_CASE(
    "rows that the unguarded GPU kernel loses are those of the catalogue at its warps' tile") {
  Index lost = 0, kept = 0;
  for (const Problem& p : problems()) {
    Problem plain = p;
    plain.softcap = 0;
    plain.scale.reset();
    if (planted_unsupported(plain, Planted::no_guard)) continue;
    CAPTURE(options(p));
    const TileShape tile = planted_tile(p, Planted::no_guard);
    for (const Sequence& s : sequences(p)) {
      if (rows_without_keys(s.mask) > 0) continue;
      const std::vector<bool> predicted = predicted_nan_rows(s.mask, tile, Walk::forward);
      for (Index row = 0; row < s.mask.n_q; ++row) {
        const bool found = is_lost(p, s.mask, row);
        CAPTURE(row);
        CHECK(found == predicted[static_cast<std::size_t>(row)]);
        ++(found ? lost : kept);
      }
    }
  }
  CHECK(lost > 100);
  CHECK(kept > 100);
}

TEST_CASE("faults planted on the GPU meet the keys that the catalogue says") {
  const Compared right = compared<Planted::nothing>("");
  CHECK(right.other == 0);
  const Compared wide = compared<Planted::one_too_wide>("window-one-too-wide");
  CHECK(wide.other == 0);
  CHECK(wide.changed > 100);
  const Compared top = compared<Planted::top_left>("top-left");
  CHECK(top.other == 0);
  CHECK(top.changed > 100);
  const Compared late = compared<Planted::starts_a_tile_late>("loop-starts-a-tile-late");
  CHECK(late.other == 0);
  CHECK(late.changed > 100);
  const Compared unmasked = compared<Planted::first_tile_unmasked>("no-mask-in-first-tile");
  CHECK(unmasked.other == 0);
  CHECK(unmasked.changed > 100);
}

// A planted kernel as the GPU would run it, on the CPU.
namespace {

Kernel stand_in(const PlantedFault& one) {
  Kernel kernel = planted_kernel({&fault(one.fault)}, {64, 64});
  kernel.name = std::string(kPlantedGpu) + std::string(one.fault);
  kernel.tile = [planted = one.planted](const Problem& p) { return planted_tile(p, planted); };
  kernel.unsupported = [planted = one.planted](const Problem& p) {
    return planted_unsupported(p, planted);
  };
  kernel.run = [tile = kernel.tile, faults = FaultSet{&fault(one.fault)}](
                   const Problem& p, const Inputs& inputs, Attention& got) {
    got = run_plan(plan_of(p, tile(p), faults), inputs);
  };
  return kernel;
}

std::vector<Case> few_cases() {
  std::vector<Case> cases = read_cases(SWA_SOURCE_DIR "/data/cases/full.toml");
  std::erase_if(cases, [](const Case& c) { return visible_pairs_of(c.problem) > 2e4; });
  return cases;
}

}  // namespace

TEST_CASE("every fault that is planted on the GPU is named from a suite in bf16") {
  const std::vector<Case> cases = few_cases();
  REQUIRE(cases.size() > 10);
  std::vector<Kernel> kernels;
  for (const PlantedFault& one : kPlantedFaults) kernels.push_back(stand_in(one));
  const std::vector<KillRow> rows = commands::gpu_kill_rows(kernels, cases);
  REQUIRE(rows.size() == kPlantedFaults.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const KillRow& row = rows[i];
    CAPTURE(row.planted->name);
    CAPTURE(row.diagnosed_as);
    CHECK(row.planted->name == kPlantedFaults[i].fault);
    CHECK_FALSE(row.survives());
    CHECK(commands::is_explained(row));
    CHECK_FALSE(row.left_out.empty());  // some have a softcap
    CHECK(row.left_out.size() < cases.size() / 2);
    for (const std::size_t c : row.killed_by) {
      CHECK(std::count(row.left_out.begin(), row.left_out.end(), c) == 0);
    }
  }
  const std::vector<std::string> lines = commands::gpu_lines(rows);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].starts_with("GPU: 5 of 5 planted kernels are killed, 5 of these are named"));
  // A kernel that has another fault than its name says.
  Kernel liar = stand_in(kPlantedFaults[1]);
  liar.name = std::string(kPlantedGpu) + "top-left";
  const KillRow lie = commands::gpu_kill_rows({liar}, cases).front();
  CHECK_FALSE(commands::is_explained(lie));
  CHECK(lie.diagnosed_as == "window-one-too-wide");
  CHECK(commands::gpu_lines({lie}).size() == 2);
}

TEST_CASE("what the planted GPU kernels take") {
  Problem p;
  p.dtype = Dtype::bf16;
  CHECK_FALSE(planted_unsupported(p, Planted::top_left));
  p.head_dim = 128;
  CHECK_FALSE(planted_unsupported(p, Planted::top_left));
  for (const auto& change : std::vector<void (*)(Problem&)>{
           [](Problem& q) { q.dtype = Dtype::fp16; }, [](Problem& q) { q.head_dim = 96; },
           [](Problem& q) { q.head_dim_v = 64; }, [](Problem& q) { q.softcap = 20; },
           [](Problem& q) { q.scale = -1; }, [](Problem& q) { q.scale = 0; }}) {
    Problem other = p;
    change(other);
    CAPTURE(options(other));
    CHECK(planted_unsupported(other, Planted::top_left));
  }
  p.sinks = 1;
  CHECK_FALSE(planted_unsupported(p, Planted::top_left));
  CHECK(planted_unsupported(p, Planted::no_guard));
  p.sinks = 0;
  p.n_q = p.n_k = 500;
  p.window = Window::causal(100);
  for (const auto& [heads, supported] : {std::pair(4, true), std::pair(6, false)}) {
    p.heads_q = heads;
    REQUIRE(plan_prefill(p).heads == heads);
    CHECK_FALSE(planted_unsupported(p, Planted::top_left));
    CHECK(planted_unsupported(p, Planted::no_guard).has_value() != supported);
  }
  for (const std::string& name : planted_gpu_faults()) CHECK_NOTHROW(fault(name));
}
