// The keys that planted faults attend, as the probe finds them, against a definition of each fault
// that is written here pair by pair.
#include <doctest/doctest.h>

#include <array>
#include <functional>

#include "kernels.hpp"
#include "problem/random_problems.hpp"
#include "verify/probe.hpp"

using namespace swa;

namespace {

constexpr TileShape kTile{16, 8};

// A pair of one sequence; q is the position of the row.
struct Pair {
  const Problem& p;
  Index row, key, q;

  Side left() const { return p.window.reach_left(); }
  bool chunked() const { return p.window.kind == Window::Kind::chunked; }
  bool inside_right(Index at) const {
    const Side right = p.window.reach_right();
    return !right.bounded || key <= at + right.reach;
  }
  bool inside_left(Index at) const {
    if (chunked()) return key / p.window.width == larger(0, at) / p.window.width;
    return !left().bounded || key >= at - left().reach;
  }
  bool is_sink() const { return key < p.sinks; }
  bool visible(Index at) const { return inside_right(at) && (inside_left(at) || is_sink()); }
  // First key of a row's band: in a chunk, its first; else inside the left bound.
  Index band_start(Index at) const {
    if (chunked()) return clamp(larger(0, at) / p.window.width * p.window.width, 0, p.n_k);
    return left().bounded ? clamp(at - left().reach, 0, p.n_k) : 0;
  }
};

using Definition = std::function<Index(const Pair&)>;

Index one_too_wide(const Pair& a) {
  const bool wider = a.left().bounded && !a.chunked() && a.key == a.q - a.left().reach - 1;
  return a.inside_right(a.q) && (a.inside_left(a.q) || wider || a.is_sink());
}
Index one_too_narrow(const Pair& a) {
  const bool oldest = a.left().bounded && !a.chunked() && a.key == a.q - a.left().reach;
  return a.inside_right(a.q) && ((a.inside_left(a.q) && !oldest) || a.is_sink());
}
Index ignored(const Pair& a) {
  if (!a.left().bounded && !a.chunked()) return a.visible(a.q);
  return !(a.p.window.reach_right() == Side::of(0)) || a.key <= a.q;
}
Index top_left(const Pair& a) {
  return a.visible(a.p.anchor == Anchor::bottom_right ? a.row : a.q);
}
Index chunks(const Pair& a) {
  if (a.p.window.kind != Window::Kind::causal) return a.visible(a.q);
  const Index W = a.p.window.width;
  return a.key <= a.q && (a.key / W == a.q / W || a.is_sink());
}
Index no_sink_tokens(const Pair& a) {
  return a.inside_right(a.q) && a.inside_left(a.q);
}
Index border_twice(const Pair& a) {
  const bool in_band = a.visible(a.q) && a.inside_left(a.q);
  return a.visible(a.q) + (in_band && a.key % kTile.BN == 0 && a.key > a.band_start(a.q));
}
Index first_tile_open(const Pair& a) {
  const Index first_row = a.row / kTile.BM * kTile.BM;
  const Index start = a.band_start(a.q - a.row + first_row);
  const bool shown = start > 0 && a.key >= start / kTile.BN * kTile.BN;
  return a.inside_right(a.q) && (a.inside_left(a.q) || shown || a.is_sink());
}
Index loop_starts_for_last_row(const Pair& a) {
  const Index last_row = smaller(a.row / kTile.BM * kTile.BM + kTile.BM, a.p.n_q) - 1;
  const Index start = a.band_start(a.q - a.row + last_row) / kTile.BN * kTile.BN;
  return a.inside_right(a.q) && ((a.inside_left(a.q) && a.key >= start) || a.is_sink());
}
Index left_right_swapped(const Pair& a) {
  if (!a.left().bounded) return a.visible(a.q);
  const Side right = a.p.window.reach_right();
  return a.key <= a.q + a.left().reach &&
         (!right.bounded || a.key >= a.q - right.reach || a.is_sink());
}
Index right_bound_top_left(const Pair& a) {
  return a.inside_right(a.row) && (a.inside_left(a.q) || a.is_sink());
}

KeyRuns defined(const Problem& p, Index row, const Definition& definition) {
  KeyRuns runs;
  const Index offset = p.anchor == Anchor::bottom_right ? p.n_k - p.n_q : 0;
  for (Index key = 0; key < p.n_k; ++key) {
    append(runs, {key, key + (definition({p, row, key, offset + row}) > 0 ? 1 : 0),
                  definition({p, row, key, offset + row})});
  }
  return runs;
}

// Problems on which the fault changed some row; all rows are compared.
int compare(const std::string& name, const Definition& definition) {
  RandomProblems problems(31, {70, 16});
  int changed = 0;
  for (int i = 0; i < 150; ++i) {
    Problem p = problems.next();
    if (p.has_lengths()) continue;
    p.dtype = std::array{Dtype::fp64, Dtype::fp32, Dtype::bf16, Dtype::fp16}[i % 4];
    CAPTURE(name);
    CAPTURE(options(p));
    const Probe found = probe(planted_kernel(p, kTile, {&fault(name)}), p);
    bool differs = false;
    for (const ProbedRow& row : found.rows) {
      const KeyRuns expected = defined(p, row.row, definition);
      CAPTURE(row.row);
      CHECK(row.keys == expected);
      differs = differs || expected != runs_of(keys_of_row(p.mask(), row.row));
    }
    changed += differs;
  }
  return changed;
}

}  // namespace

TEST_CASE("the probe finds the keys that each planted fault of the mask attends") {
  CHECK(compare("window-one-too-wide", one_too_wide) > 10);
  CHECK(compare("window-one-too-narrow", one_too_narrow) > 10);
  CHECK(compare("window-ignored", ignored) > 10);
  CHECK(compare("top-left", top_left) > 10);
  CHECK(compare("chunks-for-a-window", chunks) > 10);
  CHECK(compare("sink-tokens-missing", no_sink_tokens) > 10);
  CHECK(compare("border-key-counted-twice", border_twice) > 10);
  CHECK(compare("no-mask-in-first-tile", first_tile_open) > 10);
  CHECK(compare("loop-starts-for-last-row", loop_starts_for_last_row) > 10);
  CHECK(compare("left-right-swapped", left_right_swapped) > 10);
  CHECK(compare("top-left-right-bound", right_bound_top_left) > 10);
}

TEST_CASE("the probe finds the kv head of a planted modulo") {
  RandomProblems problems(32, {40, 16});
  int changed = 0;
  for (int i = 0; i < 100; ++i) {
    const Problem p = problems.next();
    CAPTURE(options(p));
    const Probe found = probe(planted_kernel(p, kTile, {&fault("kv-head-modulo")}), p);
    for (const ProbedHead& head : found.heads) {
      for (const auto& source : head.sources) {
        CHECK(source == std::pair(head.batch, head.head % p.heads_kv));
        changed += head.head % p.heads_kv != head.head / p.group();
      }
    }
  }
  CHECK(changed > 10);
}

TEST_CASE("the probe finds keys of other documents") {
  RandomProblems problems(33, {50, 16});
  int changed = 0;
  for (int i = 0; i < 400; ++i) {
    const Problem p = problems.next();
    if (p.layout != Layout::packed) continue;
    Index n_q = 0, n_k = 0;
    for (const Index length : p.lengths_q) n_q += length;
    for (const Index length : p.lengths_k) n_k += length;
    CAPTURE(options(p));
    const Mask whole = Mask::make(p.window, p.sinks, n_q, n_k, p.anchor);
    const Probe found = probe(planted_kernel(p, kTile, {&fault("document-boundary-crossed")}), p);
    REQUIRE(static_cast<Index>(found.rows.size()) == n_q * p.heads_q);
    for (const ProbedRow& row : found.rows) {
      KeyRuns expected;
      for (Index key = 0; key < n_k; ++key) {
        if (sees(whole, row.row, key)) append(expected, {key, key + 1});
      }
      CHECK(row.keys == expected);
    }
    ++changed;
  }
  CHECK(changed > 20);
}
