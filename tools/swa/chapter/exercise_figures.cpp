// "Try this": the exercises, answered.
#include <fmt/format.h>

#include "budget/questions.hpp"
#include "chapter/figures.hpp"
#include "chapter/gpu_figures.hpp"
#include "cli/data.hpp"
#include "model/names.hpp"
#include "problem/problem.hpp"
#include "reference/oracle.hpp"
#include "tiles/counts.hpp"
#include "verify/judge.hpp"
#include "verify/ring_trial.hpp"

namespace swa::chapter {
namespace {

void key_tiles_of_32(Figures& figures) {
  const Mask mask = Mask::make(Window::causal(100), 0, 1000, 1000, Anchor::bottom_right);
  const TileCounts counts = count_tiles(mask, {64, 32});
  figures.exact("1: BN=32, PARTIAL per interior query tile", counts.partial_max_per_query_tile);
  figures.exact("1: BN=32, PARTIAL", counts.partial);
  figures.exact("1: BN=32, FULL", counts.full);
}

void sinks_as_a_second_loop(Figures& figures) {
  Problem p;
  p.n_q = p.n_k = 4096;
  p.window = Window::causal(1024);
  p.sinks = 4;
  const Inputs inputs = make_inputs(p);
  const Verdict verdict = judge(cpu_kernels({}).front(), p, inputs, dense_oracle(p, inputs));
  figures.exact("2: elements of cpu-tiled with 4 sinks out of bound", verdict.output.mismatches);
}

void chunk_into_a_ring(Figures& figures) {
  RingTrialOptions options;
  options.prefill = 20;
  const RingTrial trial = run_ring_trial(options, {});
  figures.exact("4: rows wrong of 20, written before", trial.wrong_rows_write_first);
  figures.exact("4: rows that see nothing, written before", trial.blind_rows_write_first);
  figures.exact("4: rows wrong of 20, written after", trial.wrong_rows_write_after);
}

// The Gemma 2 27B shape at 131,072 tokens and W = 1024.
void fewest_local_layers(Figures& figures) {
  constexpr Index kTenGiB = Index{10} << 30;
  const std::vector<Model> catalogue = read_catalogue(cli::data_path("models"));
  const Model& gemma = *find_model(catalogue, "gemma2-27b-5to1");
  const ChosenLayout logical{&layouts().front(), {}, "logical"};
  const Demand demand{131'072, 1};
  const Index most = most_global_layers(logical, gemma, demand, kTenGiB);
  const auto gib = [&](Index global) {
    const Index bytes = logical_bytes(with_global_layers(gemma, global), demand);
    return fmt::format("{:.2f}", static_cast<double>(bytes) / kGiB);
  };
  figures.exact("5: most global layers of 46 under 10 GiB", most);
  figures.exact("5: GiB with that many", gib(most));
  figures.exact("5: GiB with one more", gib(most + 1));
  // The chapter rounds as 46 - 46 // (r + 1) local layers for a ratio r : 1.
  Index ratio = 1;
  while (46 / (ratio + 1) > most) ++ratio;
  figures.exact("5: smallest local:global ratio under 10 GiB", fmt::format("{}:1", ratio));
}

}  // namespace

Figures exercise_figures(const Gpu& gpu) {
  Figures figures("exercises");
  key_tiles_of_32(figures);
  sinks_as_a_second_loop(figures);
  window_per_layer_row(figures, gpu);
  chunk_into_a_ring(figures);
  fewest_local_layers(figures);
  return figures;
}

}  // namespace swa::chapter
