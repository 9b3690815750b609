// Section 4: the traps.
#include <fmt/format.h>

#include "chapter/figures.hpp"
#include "reference/oracle.hpp"
#include "verify/traps.hpp"

namespace swa::chapter {

Figures nan_trap_figures() {
  Figures figures("nan-trap");
  for (const Window window :
       {Window::global(), Window::causal(100), Window::causal(128), Window::causal(300)}) {
    Problem p;
    p.n_q = p.n_k = 1000;
    p.window = window;
    p.dtype = Dtype::fp64;
    p.seed = 1;
    const Inputs inputs = make_inputs(p);
    const Oracle expected = oracle(p, inputs);
    TiledOptions unguarded;
    unguarded.guard = false;
    const NanTrial trial = run_nan_trial(p, inputs, expected, unguarded);
    const std::string name = window.kind == Window::Kind::causal ? fmt::format("W={}", window.width)
                                                                 : std::string("W=none");
    figures.exact(name + " NaN rows", trial.nan_rows);
    figures.exact(name + " first NaN row",
                  trial.first_nan_row ? fmt::format("{}", *trial.first_nan_row) : std::string("-"));
    figures.bounded(name + " max err on other rows", trial.max_err_other_rows, trial.largest_bound);
  }
  return figures;
}

Figures alignment_figures() {
  Figures figures("alignment-trap");
  const OffByOneTrial wide = run_off_by_one_trial(1024, 64, 128, 2);
  figures.exact("window_size=(128, 0) max err", fmt::format("{:.3e}", wide.max_err));
  figures.exact("window_size=(128, 0) rows affected", wide.rows_affected);
  const AlignmentTrial chunk = run_alignment_trial(1024, 64, 128, 256, 2);
  figures.exact("chunk bottom-right max err", fmt::format("{:.3e}", chunk.max_err_bottom_right));
  figures.exact("chunk top-left max err", fmt::format("{:.3e}", chunk.max_err_top_left));
  figures.exact("decode top-left keys seen", chunk.keys_seen_top_left);
  figures.exact("decode bottom-right keys seen", chunk.keys_seen_bottom_right);
  figures.exact(
      "decode top-left sees key",
      keys_of_row(Mask::make(Window::causal(128), 0, 1, 1024, Anchor::top_left), 0).band.begin);
  return figures;
}

}  // namespace swa::chapter
