// Section 2: the reference semantics, and the drawing's tile grid.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "chapter/figures.hpp"
#include "model/model.hpp"
#include "problem/problem.hpp"
#include "reference/oracle.hpp"
#include "tiles/counts.hpp"
#include "verify/comparison.hpp"

namespace swa::chapter {
namespace {

Problem chapter_problem(Window window) {
  Problem p;
  p.n_q = p.n_k = 512;
  p.window = window;
  p.dtype = Dtype::fp64;
  p.seed = 0;
  return p;
}

}  // namespace

Figures reference_figures() {
  Figures figures("reference");
  const Mask small = Mask::make(Window::causal(3), 0, 8, 8, Anchor::bottom_right);
  std::vector<Index> keys_per_query;
  for (Index row = 0; row < small.n_q; ++row) {
    std::vector<const char*> letters;
    for (Index key = 0; key < small.n_k; ++key) {
      letters.push_back(sees(small, row, key) ? "x" : ".");
    }
    figures.exact(fmt::format("mask row {}", row), fmt::format("{}", fmt::join(letters, " ")));
    keys_per_query.push_back(std::count(letters.begin(), letters.end(), std::string_view("x")));
  }
  figures.exact("keys per query", fmt::format("[{}]", fmt::join(keys_per_query, ", ")));

  for (const char* stack : {"LLLL", "LLLLLLLL", "LLLG"}) {
    const Index first = first_dependence(stack, 4, 64);
    figures.exact(fmt::format("{} depends on positions >=", stack), first);
    figures.exact(fmt::format("{} span", stack), 64 - first);
  }

  const Problem causal = chapter_problem(Window::global());
  const Inputs inputs = make_inputs(causal);
  const Oracle dense = dense_oracle(causal, inputs);
  for (const Index W : {64, 256, 512, 1024}) {
    const Problem windowed = chapter_problem(Window::causal(W));
    const Oracle local = dense_oracle(windowed, inputs);
    const double largest =
        largest_difference(local.out.data.data(), dense.out.data.data(), dense.out.shape.size());
    figures.exact(fmt::format("W={} keys scored", W), visible_pairs(windowed.mask()));
    figures.exact(fmt::format("W={} max |o - causal|", W), fmt::format("{:.3e}", largest));
  }
  figures.exact("causal keys", visible_pairs(causal.mask()));
  return figures;
}

Figures tile_grid_figures() {
  Figures figures("tile-grid");
  const Mask mask = Mask::make(Window::causal(40), 0, 192, 192, Anchor::bottom_right);
  const TileCounts counts = count_tiles(mask, {16, 16});
  figures.exact("FULL", counts.full);
  figures.exact("PARTIAL", counts.partial);
  figures.exact("skipped", counts.skipped);
  return figures;
}

}  // namespace swa::chapter
