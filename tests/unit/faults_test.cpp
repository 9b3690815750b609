#include "verify/faults.hpp"

#include <doctest/doctest.h>

#include <map>
#include <regex>
#include <set>

#include "error.hpp"
#include "kernels.hpp"
#include "problem/random_problems.hpp"
#include "reference/tiled.hpp"
#include "verify/comparison.hpp"

using namespace swa;

namespace {

// One causal sequence without a window, one head, few enough keys for one tile.
Problem plain() {
  Problem p;
  p.n_q = p.n_k = 50;
  p.head_dim = 8;
  return p;
}

template <class Change>
Problem plain_but(Change change) {
  Problem p = plain();
  change(p);
  return p;
}

Attention run(const Problem& p, const Inputs& inputs, const FaultSet& planted) {
  return run_plan(plan_of(p, {16, 16}, planted), inputs);
}

bool changes_something(const std::string& name, const Problem& p) {
  const Inputs inputs = make_inputs(p);
  return !same_bits(run(p, inputs, {&fault(name)}), run(p, inputs, {}));
}

}  // namespace

TEST_CASE("names of faults are unique and of small letters with dashes") {
  std::set<std::string_view> names;
  const std::regex kebab("[a-z0-9]+(-[a-z0-9]+)*");
  for (const Fault& f : faults()) {
    CAPTURE(f.name);
    CHECK(names.insert(f.name).second);
    CHECK(std::regex_match(std::string(f.name), kebab));
    CHECK(&fault(f.name) == &f);
  }
  CHECK(names.size() > 50);
}

TEST_CASE("texts of faults are clauses without a full stop") {
  for (const Fault& f : faults()) {
    CAPTURE(f.name);
    CHECK_FALSE(f.kind.empty());
    for (const std::string_view text : {f.meaning, f.cause, f.remedy}) {
      CAPTURE(text);
      REQUIRE_FALSE(text.empty());
      CHECK(text.back() != '.');
      CHECK(text.find(". ") == std::string_view::npos);
      CHECK(text.find('\n') == std::string_view::npos);
      CHECK(text.find("  ") == std::string_view::npos);
    }
    CHECK(f.meaning.find(';') == std::string_view::npos);
    CHECK(f.meaning.find('{') == std::string_view::npos);
    CHECK(f.cause.find('{') == std::string_view::npos);
  }
}

TEST_CASE("an unknown fault is a usage error that names it") {
  for (const char* name : {"", "window", "window-one-too-widee", "Top-Left"}) {
    try {
      fault(name);
      FAIL_CHECK("no error");
    } catch (const UsageError& e) {
      CHECK(std::string(e.what()).find("'" + std::string(name) + "'") != std::string::npos);
      CHECK_FALSE(e.remedy().empty());
    }
  }
}

TEST_CASE("remedies hold the numbers of the problem") {
  const Fault& wide = fault("window-one-too-wide");
  Problem p = plain();
  p.window = Window::causal(100);
  CHECK(remedy_of(wide, p) == "W counts the query's own key: pass 99, not 100, as the left count");
  p.window = Window::band(Side::of(7), Side::of(3));
  CHECK(remedy_of(wide, p) == "W counts the query's own key: pass 7, not 8, as the left count");
  p.window = Window::chunked(16);
  CHECK(remedy_of(fault("window-ignored"), p) == "pass the window on: W = 16, left = 15");
  for (const Window window :
       {Window::global(), Window::causal(1), Window::causal(kMaxIndex), Window::chunked(5),
        Window::band(Side::unbounded(), Side::of(3)), Window::band(Side::of(3), Side::unbounded()),
        Window::band(Side::unbounded(), Side::unbounded())}) {
    p.window = window;
    for (const Fault& f : faults()) {
      CAPTURE(f.name);
      CHECK(remedy_of(f, p).find_first_of("{}") == std::string::npos);
    }
  }
}

TEST_CASE("every fault leaves a problem as it is in which it has no meaning") {
  // One head, one sequence, no window, no sinks, no softcap, n_q = n_k: most have none.
  const Problem base = plain();
  const auto with_one_tile = [](const std::string& name, const Problem& p) {
    const Inputs inputs = make_inputs(p);
    return same_bits(run_plan(plan_of(p, {64, 64}, {&fault(name)}), inputs),
                     run_plan(plan_of(p, {64, 64}), inputs));
  };
  const std::map<std::string, Problem> others{
      {"k-and-v-swapped", plain_but([](Problem& p) { p.head_dim_v = 12; })},
      {"rope-twice", plain_but([](Problem& p) { p.head_dim = 7; })},
      {"rope-missing", plain_but([](Problem& p) { p.head_dim = 7; })},
      {"scale-missing", plain_but([](Problem& p) { p.scale = 1; })},
      {"scale-twice", plain_but([](Problem& p) { p.scale = 1; })},
      {"log2e-missing", plain_but([](Problem& p) { p.scale = 0; })},
      {"log2e-twice", plain_but([](Problem& p) { p.scale = 0; })},
  };
  for (const Fault& f : faults()) {
    CAPTURE(f.name);
    const auto other = others.find(std::string(f.name));
    CHECK(with_one_tile(std::string(f.name), other == others.end() ? base : other->second));
    if (other != others.end()) CHECK_FALSE(with_one_tile(std::string(f.name), base));
  }
}

TEST_CASE("faults keep to the problems that they are about") {
  struct Row {
    std::string fault;
    Problem without, with;  // meaning
  };
  const auto square = [](Window window) {
    return plain_but([&](Problem& p) { p.window = window; });
  };
  const auto sized = [](Window window, Index n_q, Index n_k) {
    return plain_but([&](Problem& p) {
      p.window = window;
      p.n_q = n_q;
      p.n_k = n_k;
    });
  };
  const auto heads = [](Index heads_q, Index heads_kv, Index batch = 1) {
    return plain_but([&](Problem& p) {
      p.heads_q = heads_q;
      p.heads_kv = heads_kv;
      p.batch = batch;
    });
  };
  const auto packed = [](std::vector<Index> q, std::vector<Index> k) {
    return plain_but([&](Problem& p) {
      p.layout = Layout::packed;
      p.batch = static_cast<Index>(q.size());
      p.n_q = *std::max_element(q.begin(), q.end());
      p.n_k = *std::max_element(k.begin(), k.end());
      p.lengths_q = q;
      p.lengths_k = k;
    });
  };
  const auto padded = [&](std::vector<Index> lengths) {
    Problem p = packed(lengths, lengths);
    p.layout = Layout::padded;
    p.lengths_q.clear();
    p.n_q = p.n_k = 50;
    return p;
  };
  const auto anchored = [](Problem p, Anchor anchor) {
    p.anchor = anchor;
    return p;
  };
  const auto sunk = [](Problem p, Index sinks) {
    p.sinks = sinks;
    return p;
  };
  const auto band = [](Index left, Index right) {
    return Window::band(Side::of(left), Side::of(right));
  };
  const Window W = Window::causal(20), open = Window::band(Side::of(5), Side::unbounded());
  const Row rows[] = {
      {"window-one-too-wide", square(Window::causal(50)), square(W)},
      {"window-one-too-wide", square(Window::chunked(8)), square(band(3, 4))},
      {"window-one-too-narrow", square(Window::causal(51)), square(Window::causal(49))},
      {"window-ignored", square(Window::causal(50)), square(Window::chunked(8))},
      {"window-ignored-in-decode", sized(W, 2, 50), sized(W, 1, 50)},
      {"window-ignored-when-square", sized(W, 49, 50), square(W)},
      {"window-ignored-in-prefill", sized(W, 1, 50), sized(W, 2, 50)},
      {"window-ignored-unless-causal", square(W), square(open)},
      {"left-right-swapped", square(band(4, 4)), square(band(4, 3))},
      {"left-right-swapped", square(Window::causal(1)), square(Window::causal(2))},
      {"window-halved", square(W), square(band(6, 6))},
      {"window-doubled", square(W), square(band(6, 6))},
      {"right-taken-as-causal", square(W), square(band(6, 6))},
      {"right-ignored", square(open), square(band(6, 6))},
      {"right-zero-ignored", square(band(6, 1)), square(W)},
      {"right-clamped-to-keys", sized(band(3, 9), 30, 9),
       sized(Window::band(Side::unbounded(), Side::unbounded()), 30, 9)},
      {"window-of-one-ignored", square(Window::causal(2)), square(Window::causal(1))},
      {"window-clipped-to-keys", square(Window::causal(49)), square(Window::causal(60))},
      {"chunks-for-a-window", square(Window::causal(50)), square(W)},
      {"a-window-for-chunks", square(W), square(Window::chunked(20))},
      {"top-left", square(W), sized(W, 20, 50)},
      {"top-left", anchored(sized(W, 20, 50), Anchor::top_left), sized(W, 20, 49)},
      {"bottom-right", sized(W, 20, 50), anchored(sized(W, 20, 50), Anchor::top_left)},
      {"top-left-window", square(W), sized(W, 20, 50)},
      {"top-left-right-bound", square(W), sized(W, 20, 50)},
      {"no-mask-in-first-tile", square(Window::causal(50)), square(W)},
      {"loop-starts-a-tile-late", square(Window::causal(50)), square(W)},
      {"loop-starts-for-last-row", square(Window::causal(50)), square(W)},
      {"loop-ends-for-first-row", square(open), sized(W, 20, 50)},
      {"window-of-last-row", sized(W, 1, 50), sized(W, 4, 50)},
      {"window-of-first-row", square(W), sized(W, 4, 50)},
      {"nan-after-masked-tile", sized(W, 1, 50), square(W)},
      {"newest-keys-dropped", square(W), square(open)},
      {"split-remainder-dropped", sized(W, 1, 48), sized(W, 1, 50)},
      {"split-counted-twice", square(W), sized(W, 1, 50)},
      {"border-key-counted-twice", sized(W, 16, 16), square(W)},
      {"empty-row-nan", square(W), sized(W, 50, 49)},
      {"empty-row-mean", square(W), sized(W, 50, 49)},
      {"empty-row-not-written", square(W), sized(W, 50, 49)},
      {"empty-row-finite-lse", square(W), sized(W, 50, 49)},
      {"kv-head-modulo", heads(3, 3), heads(4, 2)},
      {"kv-head-modulo", heads(4, 1), heads(6, 3)},
      {"kv-head-zero", heads(4, 1), heads(2, 2)},
      {"packed-row-as-position", heads(3, 3), heads(3, 1)},
      {"kv-of-next-sequence", heads(3, 3), heads(1, 1, 2)},
      {"kv-of-next-sequence", packed({20, 30}, {20, 30}), heads(2, 2, 2)},
      {"heads-and-tokens-swapped", heads(1, 1, 3), heads(2, 2)},
      {"batch-and-heads-swapped", heads(1, 1, 3), heads(4, 2, 2)},
      {"batch-and-heads-swapped", heads(2, 2, 3), heads(2, 1, 3)},
      {"v-with-stride-of-k", heads(2, 2), plain_but([](Problem& p) { p.head_dim_v = 12; })},
      {"document-boundary-crossed", packed({50}, {50}), packed({20, 30}, {20, 30})},
      {"keys-at-offsets-of-queries", packed({20, 30}, {20, 30}), packed({20, 30}, {25, 30})},
      {"lengths-ignored", padded({50, 50}), padded({50, 20})},
      {"chunk-written-first", sized(Window::causal(50), 20, 50), sized(W, 20, 50)},
      {"slot-as-position", square(W), sized(W, 20, 50)},
      {"rope-by-slot", square(Window::causal(50)), square(W)},
      {"softcap-before-scale", plain_but([](Problem& p) {
         p.softcap = 1;
         p.scale = 1;
       }),
       plain_but([](Problem& p) {
         p.softcap = 1;
         p.scale = -0.5;
       })},
      {"sink-logit-scaled", plain_but([](Problem& p) {
         p.sink_logits = true;
         p.scale = 1;
       }),
       plain_but([](Problem& p) { p.sink_logits = true; })},
      {"sink-tokens-missing", sunk(square(Window::global()), 4), sunk(square(W), 4)},
      {"sink-tokens-not-causal", sunk(square(Window::global()), 1), sunk(square(W), 4)},
      {"sink-tokens-inside-window", sunk(square(Window::global()), 4), sunk(square(W), 4)},
      {"sink-tokens-twice", square(W), sunk(square(W), 4)},
  };
  for (const Row& row : rows) {
    CAPTURE(row.fault);
    CAPTURE(options(row.without));
    CAPTURE(options(row.with));
    validate(row.without);
    validate(row.with);
    CHECK_FALSE(changes_something(row.fault, row.without));
    CHECK(changes_something(row.fault, row.with));
  }
}

TEST_CASE("a cap before a negative scale is a cap of the same size") {
  Problem p = plain();
  p.softcap = 2;
  p.scale = -0.5;
  const Inputs inputs = make_inputs(p);
  const Attention got =
      run_plan_exactly(plan_of(p, {16, 16}, {&fault("softcap-before-scale")}), inputs);
  // Row 0 sees itself alone: its lse is its score.
  double product = 0;
  for (Index d = 0; d < p.head_dim; ++d) {
    product += inputs.q.row(0, 0, 0)[d] * inputs.k.row(0, 0, 0)[d];
  }
  CHECK(got.lse.data[0] == doctest::Approx(-0.5 * 2 * std::tanh(product / 2)).epsilon(1e-12));
}

TEST_CASE("a plan without faults is the tiled forward bit for bit and right") {
  RandomProblems problems(11, {130, 16});
  for (int i = 0; i < 300; ++i) {
    Problem p = problems.next();
    p.dtype = std::array{Dtype::fp64, Dtype::fp32, Dtype::bf16, Dtype::fp16}[i % 4];
    const TileShape tile{problems.pick({1, 8, 16, 64}), problems.pick({1, 8, 16, 64})};
    CAPTURE(options(p));
    const Inputs inputs = make_inputs(p);
    const Attention got = run_plan(plan_of(p, tile), inputs);
    Attention tiled = poisoned_outputs(p);
    cpu_kernels(tile).front().run(p, inputs, tiled);
    CHECK(same_bits(got, tiled));
    // The same by the way that planted keys take.
    Plan by_keys = plan_of(p, tile);
    by_keys.row_edits.emplace_back([](PlannedRow&) {});
    const Attention same = run_plan(by_keys, inputs);
    const Oracle expected = dense_oracle(p, inputs);
    const Tolerance tolerance(p, {tile.BN, tile.BN});
    for (const Attention* a : {&got, &same}) {
      CHECK(compare_output(expected, tolerance, a->out).pass());
      CHECK(compare_lse(expected, tolerance, a->lse).pass());
    }
    for (const Sequence& s : sequences(p)) {
      for (Index row = 0; row < s.mask.n_q; ++row) {
        KeyRuns keys;
        for (Index key = 0; key < s.mask.n_k; ++key) {
          if (sees(s.mask, row, key)) append(keys, {s.k_row + key, s.k_row + key + 1});
        }
        CHECK(planned_keys(by_keys, s.batch, 0, s.q_row + row) == keys);
        CHECK(planned_keys(plan_of(p, tile), s.batch, 0, s.q_row + row) == keys);
      }
    }
  }
}

TEST_CASE("every fault runs on problems of every kind and keeps the shapes of the outputs") {
  RandomProblems problems(12, {64, 16});
  for (int i = 0; i < 60; ++i) {
    const Problem p = problems.next();
    CAPTURE(options(p));
    const Inputs inputs = make_inputs(p);
    for (const Fault& f : faults()) {
      CAPTURE(f.name);
      const Attention got = run(p, inputs, {&f});
      CHECK(got.out.shape == p.query_shape(p.value_dim()));
      CHECK(got.lse.shape == p.query_shape(1));
    }
  }
}
