// Cases 1 to 3: tiles, FlexAttention's block counts, and the kernel.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chapter/figures.hpp"
#include "chapter/gpu_figures.hpp"
#include "problem/problem.hpp"
#include "reference/oracle.hpp"
#include "reference/tiled.hpp"
#include "tiles/counts.hpp"
#include "verify/judge.hpp"
#include "verify/traps.hpp"

namespace swa::chapter {
namespace {

Mask square(Index n, Window window, Index sinks = 0) {
  return Mask::make(window, sinks, n, n, Anchor::bottom_right);
}

std::string name_of(const Window& window) {
  return window.kind == Window::Kind::causal ? fmt::format("W={}", window.width) : "W=none";
}

// The chapter's swa_tiled.py: 1000 tokens of 64 in double, seed 1.
void tiled_forward_rows(Figures& figures) {
  Count most_partial = 0;
  for (const Window window : {Window::global(), Window::causal(1), Window::causal(100),
                              Window::causal(128), Window::causal(300)}) {
    Problem p;
    p.n_q = p.n_k = 1000;
    p.window = window;
    p.dtype = Dtype::fp64;
    p.seed = 1;
    const Inputs inputs = make_inputs(p);
    const TiledResult result = tiled_forward<double>(p, inputs, {});
    const Comparison found =
        compare_output(dense_oracle(p, inputs), Tolerance(p, {64, 64}), result.out);
    figures.exact(name_of(window) + " FULL", result.full);
    figures.exact(name_of(window) + " PARTIAL", result.partial);
    figures.exact(name_of(window) + " EMPTY", result.empty);
    if (window == Window::causal(1)) {  // one key, weight 1: the output is v itself
      figures.exact(name_of(window) + " max err", fmt::format("{:.2e}", found.error));
    } else {
      figures.bounded(name_of(window) + " max err", found.error, found.largest_bound);
    }
    most_partial =
        std::max(most_partial, count_tiles(p.mask(), {64, 64}).partial_max_per_query_tile);
  }
  figures.exact("most PARTIAL per query tile", most_partial);
}

void visited_tile_rows(Figures& figures) {
  for (const Index n : {8'192, 32'768, 131'072}) {
    for (const Window window : {Window::global(), Window::causal(1024), Window::causal(4096)}) {
      figures.exact(fmt::format("{} {} visited", n, name_of(window)),
                    count_tiles(square(n, window), {128, 128}).visited);
    }
  }
  const auto visited = [](Window window) {
    return static_cast<double>(count_tiles(square(131'072, window), {128, 128}).visited);
  };
  figures.exact("131072 causal / W=4096, about",
                fmt::format("{:.0f}x", visited(Window::global()) / visited(Window::causal(4096))));
}

Problem case_3(Index n_q, Index n_k, Index W) {
  Problem p;
  p.heads_q = p.heads_kv = 2;
  p.n_q = n_q;
  p.n_k = n_k;
  p.window = Window::causal(W);
  return p;
}

}  // namespace

Figures tiled_figures() {
  Figures figures("tiled");
  tiled_forward_rows(figures);
  visited_tile_rows(figures);
  return figures;
}

Figures flex_figures() {
  Figures figures("flex");
  struct Row {
    const char* name;
    Window window;
    Index sinks;
  };
  const std::vector<Row> rows{{"causal", Window::global(), 0},
                              {"window 1024", Window::causal(1024), 0},
                              {"window+4 sinks", Window::causal(1024), 4}};
  constexpr TileShape kTile{128, 128};
  for (const Index n : {4'096, 8'192, 16'384}) {
    for (const Row& row : rows) {
      const Mask mask = square(n, row.window, row.sinks);
      const TileCounts counts = count_tiles(mask, kTile);
      const std::string name = fmt::format("{} {}", n, row.name);
      figures.exact(name + " full", counts.full);
      figures.exact(name + " partial", counts.partial);
      figures.exact(name + " sparsity",
                    fmt::format("{:.2f}%", sparsity_percent(Count{n} * n, kTile, counts.visited)));
    }
  }
  const auto visited = [&](const Row& row) {
    return count_tiles(square(8192, row.window, row.sinks), kTile).visited;
  };
  figures.exact("8192 causal tiles", visited(rows[0]));
  figures.exact("8192 window tiles", visited(rows[1]));
  figures.exact("8192 tiles that sinks add", visited(rows[2]) - visited(rows[1]));

  for (const Row& row : {rows[1], rows[2]}) {
    Problem p;
    p.heads_q = p.heads_kv = 4;
    p.n_q = p.n_k = 4096;
    p.window = row.window;
    p.sinks = row.sinks;
    const Inputs inputs = make_inputs(p);
    const Comparison found = judge(cpu_kernels({}).front(), p, inputs, oracle(p, inputs)).output;
    figures.bounded(fmt::format("{} max err", row.name), found.error, found.largest_bound);
  }
  return figures;
}

Figures kernel_figures(const Gpu& gpu) {
  Figures figures("kernel");
  bool under_1e_6 = true;
  std::vector<Problem> problems;
  for (const auto& [n_q, n_k, W] : {std::tuple<Index, Index, Index>{500, 500, 100},
                                    {500, 500, 128},
                                    {500, 500, 10'000},
                                    {96, 600, 128},
                                    {1, 600, 128}}) {
    const Problem p = case_3(n_q, n_k, W);
    problems.push_back(p);
    const Inputs inputs = make_inputs(p);
    const Comparison found =
        judge(cpu_kernels({}).front(), p, inputs, dense_oracle(p, inputs)).output;
    under_1e_6 = under_1e_6 && found.error < 1e-6;
    const std::string name = fmt::format("n_q={} n_k={} window={}", n_q, n_k, W);
    const auto nan = [](bool any) { return std::string(any ? "True" : "False"); };
    figures.bounded(name + " max abs err", found.error, found.largest_bound);
    figures.exact(name + " nan", nan(found.nonfinite > 0));

    TiledOptions unguarded;
    unguarded.guard = false;
    const TiledResult lost = tiled_forward<float>(p, inputs, unguarded);
    bool any = false;
    for (const double x : lost.out.data) any = any || std::isnan(x);
    figures.exact(name + " nan without the guard", nan(any));
  }
  figures.exact("every max abs err under 1e-6", under_1e_6 ? "True" : "False");
  compile_check_rows(figures, gpu.compiled);
  tf32_row(figures, gpu, problems);
  return figures;
}

Figures gpu_plan_figures(const Gpu& gpu) {
  Figures figures("gpu-plan");
  for (const Index n : {4096, 32'768}) {
    for (const Index W : {128, 1000, 4096}) {
      Problem p = case_3(n, n, W);
      p.dtype = Dtype::bf16;
      functional_row(figures, gpu, p);
    }
  }
  growth_rows(figures, gpu);
  return figures;
}

}  // namespace swa::chapter
