// Every fault of the catalogue shown: the case that exposes it, the usual one that hides it, and
// why. And expectations that are wrong are seen to be.
#include "verify/fault_demo.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "verify/circumstances.hpp"
#include "verify/comparison.hpp"

using namespace swa;
using std::string;
using std::vector;

namespace {

const string kFolder = SWA_SOURCE_DIR "/data/cases/";

Case square(Index n, Index W) {
  Case c{"square", {}};
  c.problem.n_q = c.problem.n_k = n;
  c.problem.window = Window::causal(W);
  return c;
}

Case chunk(Index n_q, Index n_k, Index W) {
  Case c = square(n_k, W);
  c.name = "chunk";
  c.problem.n_q = n_q;
  return c;
}

string said_of_first_wrong_row(const string& name, const Problem& problem) {
  const TrialGround ground(problem, {});
  const Plan plan = plan_of(problem, {}, fault(name));
  const Attention got = run_plan(plan, ground.inputs());
  const FaultTrial trial = ground.judge(plan, got);
  REQUIRE(trial.first_wrong.has_value());
  return ground.describe(plan, got, *trial.first_wrong);
}

}  // namespace

TEST_CASE("every fault of the catalogue is shown as predicted") {
  const vector<Case> full = read_cases(kFolder + "full.toml");
  const vector<Case> usual = read_cases(kFolder + "chapter.toml");
  FaultDemos demos(full, usual, {});
  for (const Fault& f : faults()) {
    const FaultDemo demo = demos.show(f);
    CAPTURE(f.name);
    CAPTURE(demo.diagnosed_as);
    CAPTURE(demo.first_wrong_row);
    CHECK(demo.as_predicted());
    REQUIRE(demo.exposing.has_value());
    CHECK(demo.exposing->trial.error > 1);
    CHECK(demo.exposing->trial.wrong_rows <= demo.exposing->trial.rows);
    CHECK(demo.told_by.at(0) == demo.exposing->of->name);
    CHECK(demo.usual == static_cast<Index>(usual.size()));
    CHECK(demo.hiding.has_value() == (demo.seen_by < demo.usual));
    if (!demo.hiding) continue;
    CHECK(demo.hiding->trial.error <= 1);
    CHECK(demo.hiding->trial.wrong_rows == 0);
    CHECK_FALSE(demo.hiding->trial.first_wrong.has_value());
  }
}

TEST_CASE("what hides a fault is what it is about") {
  const vector<Case> full = read_cases(kFolder + "full.toml");
  const vector<Case> usual = read_cases(kFolder + "chapter.toml");
  FaultDemos demos(full, usual, {});
  const auto reason = [&](const char* name) {
    const FaultDemo demo = demos.show(fault(name));
    return demo.reasons.empty() ? string() : demo.reasons.front();
  };
  CHECK(reason("window-one-too-wide") == "W = 10000 > n_k = 500");
  CHECK(reason("window-of-one-ignored") == "W = 100 > 1");
  CHECK(reason("top-left") == "n_q = n_k = 500");
  CHECK(reason("kv-head-modulo") == "heads_kv = heads_q = 2");
  CHECK(reason("kv-head-zero") == "heads_q = 1");
  CHECK(reason("kv-of-next-sequence") == "batch = 1");
  CHECK(reason("v-with-stride-of-k") == "head_dim_v = head_dim = 64");
  CHECK(reason("right-ignored") == "no row sees keys after its own");
  CHECK(reason("softcap-missing") == "no softcap");
  CHECK(reason("sink-logit-twice") == "no sink logits");
  CHECK(reason("sink-tokens-missing") == "no sink tokens");
  CHECK(reason("fp16-overflow") == "dtype = fp32");
  for (const char* seen_by_all : {"scale-missing", "rope-twice", "k-and-v-swapped"}) {
    const FaultDemo demo = demos.show(fault(seen_by_all));
    CHECK(demo.seen_by == demo.usual);
    CHECK_FALSE(demo.hiding.has_value());
  }
}

TEST_CASE("a fault that no case exposes is not as predicted") {
  const vector<Case> squares{square(160, 48)};
  const FaultDemo demo = FaultDemos(squares, squares, {}).show(fault("top-left"));
  CHECK_FALSE(demo.exposing.has_value());
  CHECK(demo.diagnosed_as.empty());
  CHECK_FALSE(demo.exposed_as_predicted());
  CHECK_FALSE(demo.as_predicted());
}

TEST_CASE("a fault of another name or of other rows is not as predicted") {
  const vector<Case> telling{square(160, 48), chunk(40, 160, 48)}, usual{square(40, 50)};
  FaultDemos demos(telling, usual, {});
  FaultDemo right = demos.show(fault("window-one-too-wide"));
  CHECK(right.as_predicted());
  right.exposing->trial.unforeseen = 1;
  CHECK_FALSE(right.as_predicted());
  Fault impostor = fault("window-one-too-wide");
  impostor.plant = fault("window-one-too-narrow").plant;
  const FaultDemo demo = demos.show(impostor);
  CHECK(demo.diagnosed_as == "window-one-too-narrow");
  CHECK_FALSE(demo.as_predicted());
  // Two faults that do the same on all cases have one name between them.
  const vector<Case> square_alone{square(160, 48)};
  FaultDemos blurred(square_alone, usual, {});
  CHECK(blurred.show(fault("window-ignored")).exposed_as_predicted());
  CHECK_FALSE(blurred.show(fault("window-ignored-when-square")).exposed_as_predicted());
}

TEST_CASE("a usual case that hides a fault for no known reason is not as predicted") {
  // One tile: its loop cannot begin too late. That is none of the circumstances.
  const vector<Case> telling{square(160, 48)}, usual{square(60, 20)};
  const FaultDemo demo = FaultDemos(telling, usual, {}).show(fault("loop-starts-a-tile-late"));
  CHECK(demo.exposed_as_predicted());
  REQUIRE(demo.hiding.has_value());
  CHECK(demo.reasons.empty());
  CHECK_FALSE(demo.hidden_as_predicted());
  CHECK_FALSE(demo.as_predicted());
}

TEST_CASE("rows that are wrong without other keys are unforeseen") {
  const TrialGround ground(square(160, 48).problem, {});
  const Plan right = plan_of(ground.problem(), {});
  const Plan wide = plan_of(ground.problem(), {}, fault("window-one-too-wide"));
  const Attention got = run_plan(wide, ground.inputs());
  const FaultTrial foreseen = ground.judge(wide, got);
  CHECK(foreseen.wrong_rows == 112);  // rows 48 .. 159
  CHECK(foreseen.other_keys == 112);
  CHECK(foreseen.unforeseen == 0);
  CHECK(foreseen.first_wrong == std::array<Index, 3>{0, 0, 48});
  CHECK_FALSE(foreseen.same_bits);
  const FaultTrial unforeseen = ground.judge(right, got);
  CHECK(unforeseen.other_keys == 0);
  CHECK(unforeseen.unforeseen == 112);
  CHECK(ground.judge(right, run_plan(right, ground.inputs())).same_bits);
  // What is changed besides the keys is not foretold.
  const Plan unscaled = plan_of(ground.problem(), {}, fault("scale-missing"));
  CHECK_FALSE(ground.judge(unscaled, got).other_keys.has_value());
}

TEST_CASE("a trial agrees with the comparison") {
  for (const Case& c : read_cases(kFolder + "full.toml")) {
    if (c.problem.n_k > 1000) continue;
    const TrialGround ground(c.problem, {});
    const Tolerance tolerance(c.problem, ground.sums());
    for (const char* name : {"window-one-too-wide", "nan-after-masked-tile", "empty-row-finite-lse",
                             "empty-row-not-written", "sink-logit-twice", "softcap-missing"}) {
      const Plan plan = plan_of(c.problem, {}, fault(name));
      const Attention got = run_plan(plan, ground.inputs());
      const Comparison out = compare_output(ground.oracle(), tolerance, got.out);
      const Comparison lse = compare_lse(ground.oracle(), tolerance, got.lse);
      CAPTURE(c.name);
      CAPTURE(name);
      const FaultTrial trial = ground.judge(plan, got);
      CHECK(trial.shows() == !(out.pass() && lse.pass()));
      CHECK((trial.error <= 1) == (out.pass() && lse.pass()));
    }
  }
}

TEST_CASE("the first wrong row says what it saw instead") {
  const Problem plain = square(160, 48).problem;
  CHECK(said_of_first_wrong_row("window-one-too-wide", plain) ==
        "row 48 sees keys 0..48, should see keys 1..48");
  CHECK(said_of_first_wrong_row("border-key-counted-twice", plain) ==
        "row 64 sees keys 17..63 and 64 twice, should see keys 17..64");
  CHECK(said_of_first_wrong_row("window-one-too-narrow", square(70, 1).problem) ==
        "row 0 sees no key, should see key 0");
  CHECK(said_of_first_wrong_row("nan-after-masked-tile", plain)
            .starts_with("row 111, element 0 is NaN, should be "));
  const Problem more = chunk(24, 9, 9).problem;
  CHECK(said_of_first_wrong_row("empty-row-not-written", more) ==
        "row 0, element 0 is never written, should be 0");
  CHECK(said_of_first_wrong_row("empty-row-finite-lse", more) ==
        "row 0 has the lse 0, should have -inf");
  Problem batch = plain;
  batch.batch = 2;
  batch.heads_q = 4;
  batch.heads_kv = 2;
  CHECK(said_of_first_wrong_row("kv-head-modulo", batch) ==
        "batch 0, head 1, row 0 reads kv head 1, should read 0");
  CHECK(said_of_first_wrong_row("kv-of-next-sequence", batch) ==
        "batch 0, head 0, row 0 reads k and v of batch 1, should read those of 0");
  Problem packed;
  packed.layout = Layout::packed;
  packed.batch = 2;
  packed.lengths_q = packed.lengths_k = {5, 9};
  packed.n_q = packed.n_k = 9;
  packed.window = Window::causal(4);
  CHECK(said_of_first_wrong_row("document-boundary-crossed", packed) ==
        "row 5 sees rows of k 2..5, should see row of k 5");
}

TEST_CASE("a circumstance that is imposed holds and leaves a problem that has a meaning") {
  const vector<Circumstance> all = circumstances();
  vector<int> imposed(all.size());
  for (const Case& c : read_cases(kFolder + "full.toml")) {
    CAPTURE(c.name);
    for (std::size_t i = 0; i < all.size(); ++i) {
      CAPTURE(i);
      if (all[i].holds(c.problem)) {
        CHECK_FALSE(all[i].say(c.problem).empty());
        continue;
      }
      Problem changed = c.problem;
      all[i].impose(changed);
      CHECK(all[i].holds(changed));
      validate(changed);
      CHECK(make_inputs(changed).q.shape == changed.query_shape(changed.head_dim));
      ++imposed[i];
    }
  }
  CHECK(std::count(imposed.begin(), imposed.end(), 0) == 0);
}
