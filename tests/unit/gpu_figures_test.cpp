// The chapter's GPU figures, on CPU kernels that play the GPU's.
#include "chapter/gpu_figures.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "chapter/compare.hpp"
#include "chapter/compile_check.hpp"
#include "cli/data.hpp"
#include "error.hpp"
#include "kernels.hpp"

using namespace swa;
using namespace swa::chapter;
using std::string;

namespace {

Kernel called(const string& name, Kernel kernel = cpu_kernels({}).front()) {
  kernel.name = name;
  return kernel;
}

Kernel with_fault(const string& name) {
  return called("portable-prefill", planted_kernel({&fault(name)}, {}));
}

// A GPU whose kernels are right and whose times grow with these powers of N.
Gpu played(double bounded = 1, double mask_only = 2) {
  Gpu gpu;
  gpu.kernels = {called("portable-mask-only"), called("portable-prefill")};
  gpu.oracle = [](const Problem& p, const Inputs& inputs) { return oracle(p, inputs); };
  gpu.layers = [](const string&, const Problem& p, const Inputs& inputs,
                  const std::vector<Window>& windows) {
    std::vector<Attention> layers;
    for (const Window& window : windows) {
      Problem one = p;
      one.window = window;
      layers.push_back(run_poisoned(cpu_kernels({}).front(), one, inputs));
    }
    return layers;
  };
  gpu.seconds = [=](const string& kernel, const Problem& p) {
    CHECK(p.window == Window::causal(1024));
    return 1e-9 * std::pow(p.n_q, kernel == "portable-prefill" ? bounded : mask_only);
  };
  return gpu;
}

Problem small(Index W) {
  Problem p;
  p.n_q = p.n_k = 300;
  p.window = Window::causal(W);
  p.dtype = Dtype::bf16;
  return p;
}

// The one figure that `add` adds.
template <class Add>
Figure figure_of(Add add) {
  Figures figures("t");
  add(figures);
  REQUIRE(figures.list().size() == 1);
  return figures.list().front();
}

Figure functional(const Gpu& gpu, Index W = 100) {
  return figure_of([&](Figures& figures) { functional_row(figures, gpu, small(W)); });
}

Figure stack(const Gpu& gpu) {
  return figure_of([&](Figures& figures) { window_per_layer_row(figures, gpu); });
}

std::pair<string, string> growth(double bounded, double mask_only) {
  Figures figures("t");
  growth_rows(figures, played(bounded, mask_only));
  REQUIRE(figures.list().size() == 2);
  CHECK(figures.list()[0].row == "time against N, loop bounds");
  CHECK(figures.list()[1].row == "time against N, mask only");
  return {figures.list()[0].ours, figures.list()[1].ours};
}

}  // namespace

TEST_CASE("without a GPU its figures wait and say for what") {
  Gpu none;
  for (const Figure& figure : {functional(none), stack(none)}) {
    CHECK(figure.kind == Class::waiting);
    CHECK(figure.ours == "a GPU kernel");
  }
  Figures times("t");
  growth_rows(times, none);
  tf32_row(times, none, {small(100)});
  REQUIRE(times.list().size() == 3);
  for (const Figure& figure : times.list()) CHECK(figure.kind == Class::waiting);
}

TEST_CASE("with a GPU none of its figures waits and those of right kernels come out") {
  Figures figures("gpu-plan");
  functional_row(figures, played(), small(100));
  growth_rows(figures, played());
  window_per_layer_row(figures, played());
  const Printed printed{{{"gpu-plan", "functional bf16 N=300 W=100"}, "agrees"},
                        {{"gpu-plan", "time against N, loop bounds"}, "linear"},
                        {{"gpu-plan", "time against N, mask only"}, "quadratic"},
                        {{"gpu-plan", "3: a window per layer in one kernel call"}, "agrees"}};
  const auto verdicts = compare(figures.list(), printed);
  REQUIRE(verdicts.size() == 4);
  for (const auto& v : verdicts) {
    CAPTURE(v.figure.row);
    CHECK(v.figure.kind == Class::measured);
    CHECK(v.verdict == "ok");
    CHECK_FALSE(v.figure.number.empty());
  }
}

TEST_CASE("the error of TF32 is told from that of fp32 and of bf16") {
  const auto word = [](Dtype narrowed) {
    Gpu gpu = played();
    Kernel& kernel = gpu.kernels.back();
    kernel.run = [narrowed](const Problem& p, const Inputs& inputs, Attention& got) {
      CHECK(p.dtype == Dtype::tf32);
      Inputs factors = inputs;
      for (auto* tensor : {&factors.q, &factors.k, &factors.v}) round_to(narrowed, tensor->data);
      cpu_kernels({}).front().run(p, factors, got);
    };
    Problem p = small(100);
    p.dtype = Dtype::fp32;
    const Figure figure = figure_of([&](Figures& figures) {
      tf32_row(figures, gpu, {p, small(1)});
    });
    CHECK(figure.row == "fp32 through TF32 tensor cores: error about");
    CHECK(figure.kind == Class::measured);
    return figure.ours;
  };
  CHECK(word(Dtype::tf32) == "1e-3");
  CHECK(word(Dtype::fp32) != "1e-3");
  CHECK(word(Dtype::bf16) == "1e-2");
}

TEST_CASE("a functional figure has the error beside its bound") {
  const Figure figure = functional(played());
  CHECK(figure.row == "functional bf16 N=300 W=100");
  CHECK(figure.number.starts_with("max err "));
  const double error = std::stod(figure.number.substr(8));
  CHECK(error > 0);
  CHECK(error <= figure.bound);
  CHECK(figure.bound < 0.1);
}

TEST_CASE("a kernel with a fault does not agree") {
  for (const string name : {"window-one-too-wide", "window-ignored", "nan-after-masked-tile"}) {
    CAPTURE(name);
    Gpu gpu = played();
    gpu.kernels = {with_fault(name)};
    const Figure figure = functional(gpu);
    CHECK(figure.kind == Class::measured);
    CHECK(figure.ours == "fail");
    CHECK(compare({figure}, {{{"t", figure.row}, "agrees"}}).front().verdict == "differs");
  }
}

TEST_CASE("a kernel that breaks off is an error and none that agrees") {
  Gpu gpu = played();
  gpu.kernels[1].run = [](const Problem&, const Inputs&, Attention&) {
    throw std::runtime_error("an illegal memory access");
  };
  const Figure figure = functional(gpu);
  CHECK(figure.ours == "error");
  CHECK(figure.number == "an illegal memory access");
}

TEST_CASE("a GPU that cannot take a problem leaves the figure waiting") {
  Gpu gpu = played();
  for (Kernel& kernel : gpu.kernels) {
    kernel.unsupported = [](const Problem&) { return string("99 KiB of shared memory a block"); };
  }
  for (const Figure& figure : {functional(gpu), stack(gpu)}) {
    CHECK(figure.kind == Class::waiting);
    CHECK(figure.ours == "another GPU: 99 KiB of shared memory a block");
  }
  gpu = played();
  gpu.seconds = [](const string&, const Problem&) -> double { throw CannotRun("too few GiB"); };
  Figures figures("t");
  growth_rows(figures, gpu);
  for (const Figure& figure : figures.list()) CHECK(figure.ours == "another GPU: too few GiB");
}

TEST_CASE("time is linear or quadratic within a doubling of the rate and else neither") {
  CHECK(growth(1, 2) == std::pair<string, string>("linear", "quadratic"));
  CHECK(growth(0.81, 1.81) == std::pair<string, string>("linear", "quadratic"));
  CHECK(growth(1.19, 2.19) == std::pair<string, string>("linear", "quadratic"));
  CHECK(growth(0.79, 1.79) == std::pair<string, string>("neither", "neither"));
  CHECK(growth(1.21, 2.21) == std::pair<string, string>("neither", "neither"));
  // The two kernels the other way round do not come out.
  CHECK(growth(2, 1) == std::pair<string, string>("quadratic", "linear"));
  CHECK(growth(std::nan(""), 0) == std::pair<string, string>("neither", "neither"));
}

TEST_CASE("a stack whose launches ignore their window does not agree") {
  Gpu gpu = played();
  CHECK(stack(gpu).ours == "agrees");
  const auto right = gpu.layers;
  // Every launch has the window of the plan.
  gpu.layers = [&](const string& kernel, const Problem& p, const Inputs& inputs,
                   const std::vector<Window>& windows) {
    return right(kernel, p, inputs, std::vector<Window>(windows.size(), windows.front()));
  };
  Figure figure = stack(gpu);
  CHECK(figure.ours == "fail");
  CHECK(figure.number.starts_with("launch 2 of W=101: max err "));
  // One launch differs in a bit, within its bound.
  for (const std::size_t launch : {0, 5, 6}) {
    CAPTURE(launch);
    gpu.layers = [&](const string& kernel, const Problem& p, const Inputs& inputs,
                     const std::vector<Window>& windows) {
      auto layers = right(kernel, p, inputs, windows);
      layers[launch].lse.data[7] += 1e-9;
      return layers;
    };
    figure = stack(gpu);
    CHECK(figure.ours == "differs");
    CHECK(figure.number.starts_with("launch " + std::to_string(launch + 1) + " of W="));
  }
}

TEST_CASE("a window wider than the sequence that is not the global one does not agree") {
  Gpu gpu = played();
  // Right to within rounding, and the same whoever calls, but not where W is 10,000.
  Kernel& kernel = gpu.kernels[1];
  kernel.run = [run = kernel.run](const Problem& p, const Inputs& inputs, Attention& got) {
    run(p, inputs, got);
    if (p.window.width == 10'000) got.lse.data[7] += 1e-9;
  };
  gpu.layers = [kernel](const string&, const Problem& p, const Inputs& inputs,
                        const std::vector<Window>& windows) {
    std::vector<Attention> layers;
    for (const Window& window : windows) {
      Problem one = p;
      one.window = window;
      layers.push_back(run_poisoned(kernel, one, inputs));
    }
    return layers;
  };
  const Figure figure = stack(gpu);
  CHECK(figure.ours == "differs");
  CHECK(figure.number == "W=10000 is not W=n_k");
}

TEST_CASE("the compile check has the nearest tile beside the chapter's and judges neither") {
  Resources r;
  r.kernel = "portable-prefill";
  r.variant = "plain";
  r.arch = "sm_80";
  r.head_dim = r.head_dim_v = 128;
  r.BM = 128;
  r.BN = 64;
  r.smem_bytes = 88'064;
  r.mma = {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"};
  Resources hopper = r;
  hopper.arch = "sm_90a";
  hopper.smem_bytes = 88'080;
  Figures figures("kernel"), none("kernel");
  compile_check_rows(figures, {r, hopper});
  compile_check_rows(none, {});
  REQUIRE(figures.list().size() == 6);
  CHECK(figures.list()[0].ours == "88080 (tile 128x64, sm_90a)");
  CHECK(figures.list()[1].ours == "mma.sync m16n8k16.f32.bf16.bf16.f32");
  CHECK(figures.list()[0].note.starts_with("shared memory: portable-prefill has 88064 B = "));
  CHECK(figures.list()[2].note.starts_with("MMA: wgmma "));
  const Printed printed = read_printed(cli::data_path("chapter/figures.tsv"));
  for (const Figures& list : {figures, none}) {
    for (const Figure& figure : list.list()) {
      CAPTURE(figure.row);
      CHECK(figure.kind == Class::other_kernel);
      CHECK(printed.contains({"kernel", figure.row}));
      const auto v = compare({figure}, {{{"kernel", figure.row}, "whatever"}}).front();
      CHECK(v.verdict == "other kernel");
      CHECK_FALSE(v.wrong);
      CHECK(v.chapter == "whatever");
      CHECK(compare({figure}, {}).front().wrong);
    }
  }
  for (const Figure& figure : none.list()) CHECK(figure.ours == "no CUDA kernels in this build");
}
