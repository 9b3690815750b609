// What bench stands on: wrong outputs are told from right ones before they are timed, and no roof
// is passed. Needs a GPU; says where there is none.
#include <doctest/doctest.h>

#include <cuda_runtime_api.h>

#include <cstdio>
#include <string>
#include <vector>

#include "commands/gpu_record.hpp"
#include "gpu/here.hpp"
#include "kernels/device/call.hpp"
#include "kernels/device/tensors.hpp"
#include "kernels/gpu_kernel.hpp"
#include "kernels/sample_check.hpp"
#include "kernels/timer.hpp"
#include "problem/cases.hpp"

using namespace swa;
using swa::test::has_gpu;

namespace {

Problem layer(Index n, Index heads_q, Index heads_kv, Index head_dim, Window window) {
  Problem p;
  p.n_q = p.n_k = n;
  p.heads_q = heads_q;
  p.heads_kv = heads_kv;
  p.head_dim = head_dim;
  p.window = window;
  p.dtype = Dtype::bf16;
  return p;
}

SampleCheck checked(const GpuKernel& kernel, const Problem& p) {
  const device::Tensors tensors(p);
  Workspace workspace;
  SWA_CUDA(kernel.prepare(p, workspace)(tensors.params(), nullptr));
  return check_samples(p, tensors.params(), kernel.sums);
}

}  // namespace

TEST_CASE("gpu: samples tell each planted kernel from the right ones") {
  if (!has_gpu()) return;
  Problem p = layer(5000, 8, 2, 128, Window::causal(1000));
  p.n_q = 4000;
  for (const GpuKernel& kernel : all_gpu_kernels()) {
    if (kernel.unsupported(p)) continue;
    CAPTURE(kernel.name);
    const SampleCheck check = checked(kernel, p);
    CHECK_MESSAGE(check.pass(), check.reason());
    CHECK(check.rows >= 3 * 32);
    CHECK(check.output.elements == check.rows * p.head_dim);
  }
  for (const GpuKernel& kernel : all_planted_gpu_kernels()) {
    CAPTURE(kernel.name);
    REQUIRE_FALSE(kernel.unsupported(p));
    const SampleCheck check = checked(kernel, p);
    CHECK_FALSE(check.pass());
    CHECK_FALSE(check.reason().empty());
  }
}

TEST_CASE("gpu: samples see an output that was not written, and a wrong log-sum-exp") {
  if (!has_gpu()) return;
  const Problem p = layer(300, 4, 4, 64, Window::causal(50));
  const device::Tensors tensors(p);
  CHECK(check_samples(p, tensors.params(), SumRuns()).nonfinite ==
        p.query_shape(p.value_dim()).size());
  Workspace workspace;
  SWA_CUDA(gpu_kernel("portable-prefill").prepare(p, workspace)(tensors.params(), nullptr));
  CHECK(check_samples(p, tensors.params(), SumRuns()).pass());
  SWA_CUDA(cudaMemset(tensors.params().lse, 0, 300 * 4));  // of head 0
  const SampleCheck check = check_samples(p, tensors.params(), SumRuns());
  CHECK(check.output.pass());
  CHECK(check.lse_mismatches > 0);
  CHECK_FALSE(check.pass());
}

TEST_CASE("gpu: no kernel passes a roof in any regime") {
  if (!has_gpu()) return;
  commands::GpuBench bench;
  bench.rounds = 10;
  bench.kernels = usual_gpu_kernels();
  bench.regimes = {commands::Regime::interleaved, commands::Regime::alone,
                   commands::Regime::sustained};
  Problem decode = layer(8192, 32, 8, 128, Window::causal(4096));
  decode.n_q = 1;
  decode.batch = 64;
  Problem tiny = layer(16, 1, 1, 64, Window::global());
  Problem in_fp32 = layer(2048, 8, 8, 64, Window::causal(512));
  in_fp32.dtype = Dtype::fp32;
  bench.cases = {{"prefill", layer(8192, 32, 8, 128, Window::causal(1024))},
                 {"causal", layer(8192, 16, 16, 64, Window::global())},
                 {"decode", decode},
                 {"tiny", tiny},
                 {"fp32", in_fp32}};
  const commands::GpuBenchResult result = commands::time_on_gpu(bench);
  CHECK(result.table.rows.size() >= 3 * bench.cases.size());
  for (const std::string& line : result.wrong.lines) FAIL_CHECK(line);
  for (const std::string& line : result.broken_roofs.lines) FAIL_CHECK(line);
}

TEST_CASE("gpu: a share of a roof above 1 is reported") {
  commands::GpuTiming timing;
  timing.work.mma = "mma.sync";
  timing.seconds = {1e-3};
  timing.empty = 1e-6;
  timing.bytes = 1e9;
  timing.read = timing.copy = timing.best_read = timing.best_copy = 0.9e-3;
  const Problem p = layer(4096, 32, 32, 128, Window::global());
  CHECK(commands::broken_roofs(p, timing).empty());
  timing.best_copy = 1.1e-3;
  timing.read = timing.copy = timing.best_read = 1.2e-3;
  CHECK(commands::broken_roofs(p, timing).size() == 1);
  timing.loops = {{"mma.sync", 1e11}};
  CHECK(commands::broken_roofs(p, timing).size() == 3);
}

TEST_CASE("gpu: cycles and seconds of a kernel agree") {
  if (!has_gpu()) return;
  const Problem p = layer(16384, 32, 8, 128, Window::causal(4096));
  GpuTimer timer(p, GpuTimer::Replay::graph);
  const GpuTimer::Entry kernel = timer.add_kernel("portable-prefill");
  REQUIRE(timer.check(kernel).pass());
  for (int i = 0; i < 3; ++i) timer.time(kernel);
  const double seconds = timer.time(kernel);
  const GpuCycles cycles = timer.count_cycles(kernel);
  CHECK(cycles.hertz > 0.3e9);
  CHECK(cycles.hertz < 2.5e9);
  CHECK(cycles.cycles / cycles.hertz == doctest::Approx(seconds).epsilon(0.2));
  // Launches take longer than graph replays, and not by much.
  GpuTimer with_launches(p, GpuTimer::Replay::launch);
  const GpuTimer::Entry again = with_launches.add_kernel("portable-prefill");
  with_launches.time(again);
  CHECK(with_launches.time(again) == doctest::Approx(seconds).epsilon(0.3));
}
