#include "chapter/gpu_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "error.hpp"
#include "verify/comparison.hpp"
#include "verify/judge.hpp"

namespace swa::chapter {
namespace {

const std::string kBounded = "portable-prefill", kMaskOnly = "portable-mask-only";
const std::string kAgrees = "agrees";

// A figure before it has a row.
struct Measured {
  std::string word;    // that the number earns
  std::string number;  // in words
  double bound = 0;    // of an error; 0: none
};

// A row of what a kernel does. It waits where there is no such kernel, or this GPU is too small.
template <class Measure>
void add_row(Figures& figures, const std::string& row, const Gpu& gpu, const std::string& kernel,
             Measure measure) {
  const auto found = std::find_if(gpu.kernels.begin(), gpu.kernels.end(),
                                  [&](const Kernel& k) { return k.name == kernel; });
  if (found == gpu.kernels.end()) return figures.waiting(row, "a GPU kernel");
  try {
    const Measured m = measure(*found);
    figures.measured(row, m.word, m.number, m.bound);
  } catch (const CannotRun& error) {
    figures.waiting(row, fmt::format("another GPU: {}", error.what()));
  }
}

void require_support(const Kernel& kernel, const Problem& p) {
  if (const auto reason = kernel.unsupported(p)) throw CannotRun(*reason);
}

std::string error_words(double error) {
  return fmt::format("max err {:.2e}", error);
}

Measured judged(const Kernel& kernel, const Gpu& gpu, const Problem& p, const Inputs& inputs) {
  require_support(kernel, p);
  const Verdict verdict = judge(kernel, p, inputs, gpu.oracle(p, inputs));
  if (!verdict.compared()) return {std::string(name(verdict.status)), verdict.reason};
  if (verdict.status == Status::pass) {
    return {kAgrees, error_words(verdict.output.error), verdict.output.bound};
  }
  const std::string why = verdict.status == Status::mistrusted
                              ? verdict.reason
                              : fmt::format("{}, {} elements and {} of the lse out of bound",
                                            error_words(verdict.output.error),
                                            verdict.output.mismatches, verdict.lse.mismatches);
  return {std::string(name(verdict.status)), why, verdict.output.bound};
}

// The chapter's problem of exercise 3, in bf16.
Measured stacked(const Kernel& kernel, const Gpu& gpu) {
  Problem p;
  p.heads_q = p.heads_kv = 2;
  p.n_q = p.n_k = 500;
  p.dtype = Dtype::bf16;
  std::vector<Window> windows;
  for (Index i = 0; i < 5; ++i) windows.push_back(Window::causal(100 + i));
  windows.push_back(Window::causal(p.n_k));
  windows.push_back(Window::causal(10'000));
  p.window = windows.front();
  require_support(kernel, p);
  const Inputs inputs = make_inputs(p);
  const std::vector<Attention> launches = gpu.layers(kernel.name, p, inputs, windows);
  const auto same = [](const Attention& a, const Attention& b) {
    return same_bits(a.out, b.out) && same_bits(a.lse, b.lse);
  };
  for (std::size_t i = 0; i < windows.size(); ++i) {
    p.window = windows[i];
    Kernel launch = kernel;
    launch.run = [&](const Problem&, const Inputs&, Attention& got) { got = launches[i]; };
    const Measured m = judged(launch, gpu, p, inputs);
    const std::string which = fmt::format("launch {} of W={}", i + 1, p.window.width);
    if (m.word != kAgrees) return {m.word, fmt::format("{}: {}", which, m.number), m.bound};
    if (!same(launches[i], run_poisoned(kernel, p, inputs))) {
      return {"differs", which + " is not what a call of its own gives"};
    }
  }
  const std::size_t global = windows.size() - 2;
  if (!same(launches[global], launches[global + 1])) {
    return {"differs", "W=10000 is not W=n_k"};
  }
  return {kAgrees, fmt::format("{} launches, bit for bit as calls", windows.size())};
}

constexpr Index kFewest = 4096, kMost = 131'072;  // tokens

// The power of N that time grows with, and the word for it.
Measured growth(const Kernel& kernel, const Gpu& gpu) {
  Problem p;  // a layer of eight query heads, four of which share K and V
  p.heads_q = 8;
  p.heads_kv = 2;
  p.head_dim = 128;
  p.window = Window::causal(1024);
  p.dtype = Dtype::bf16;
  const auto seconds = [&](Index n) {
    p.n_q = p.n_k = n;
    require_support(kernel, p);
    return gpu.seconds(kernel.name, p);
  };
  const double sizes = static_cast<double>(kMost) / static_cast<double>(kFewest);
  const double power = std::log(seconds(kMost) / seconds(kFewest)) / std::log(sizes);
  // More tiles keep more of the GPU busy. A rate that doubles, or halves, between the two sizes
  // changes the power by log 2 / log 32.
  const double slack = std::log(2) / std::log(sizes);
  const auto near = [&](double exponent) { return std::abs(power - exponent) <= slack; };
  return {near(1) ? "linear" : near(2) ? "quadratic" : "neither", fmt::format("N^{:.2f}", power)};
}

}  // namespace

void tf32_row(Figures& figures, const Gpu& gpu, const std::vector<Problem>& problems) {
  const auto measure = [&](const Kernel& kernel) -> Measured {
    double error = 0;
    for (Problem p : problems) {
      const Inputs inputs = make_inputs(p);
      const Oracle expected = gpu.oracle(p, inputs);
      const Tolerance tolerance(p);
      p.dtype = Dtype::tf32;
      require_support(kernel, p);
      const Attention got = run_poisoned(kernel, p, inputs);
      error = std::max(error, compare_output(expected, tolerance, got.out).error);
    }
    return {fmt::format("1e{:.0f}", std::log10(error)), error_words(error)};
  };
  add_row(figures, "fp32 through TF32 tensor cores: error about", gpu, kBounded, measure);
}

void functional_row(Figures& figures, const Gpu& gpu, const Problem& p) {
  add_row(figures, fmt::format("functional bf16 N={} W={}", p.n_q, p.window.width), gpu, kBounded,
          [&](const Kernel& kernel) { return judged(kernel, gpu, p, make_inputs(p)); });
}

void growth_rows(Figures& figures, const Gpu& gpu) {
  const auto measure = [&](const Kernel& kernel) { return growth(kernel, gpu); };
  add_row(figures, "time against N, loop bounds", gpu, kBounded, measure);
  add_row(figures, "time against N, mask only", gpu, kMaskOnly, measure);
}

void window_per_layer_row(Figures& figures, const Gpu& gpu) {
  add_row(figures, "3: a window per layer in one kernel call", gpu, kBounded,
          [&](const Kernel& kernel) { return stacked(kernel, gpu); });
}

}  // namespace swa::chapter
