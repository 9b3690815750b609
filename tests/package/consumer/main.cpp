// Counts tiles, judges the CPU kernel and asks for GPU kernels through an installed swa.
#include <cstdio>

#include "kernels/about.hpp"
#include "kernels/forward.hpp"
#include "tiles/counts.hpp"
#include "verify/judge.hpp"

int main() {
  swa::Problem problem;
  problem.n_q = problem.n_k = 70;
  problem.window = swa::Window::causal(9);
  const swa::Inputs inputs = swa::make_inputs(problem);
  const swa::Oracle expected = swa::oracle(problem, inputs);
  for (const swa::Kernel& kernel : swa::cpu_kernels({})) {
    const swa::Verdict verdict = swa::judge(kernel, problem, inputs, expected);
    std::printf("%s: %s\n", kernel.name.c_str(), std::string(swa::name(verdict.status)).c_str());
  }
  const swa::TileCounts counts = swa::count_tiles(problem.mask(), {16, 16});
  std::printf("visited: %lld\n", static_cast<long long>(counts.visited));
  const std::string cuda = swa::cuda_facts().runtime;
  std::printf("cuda: %s\n", cuda.empty() ? "none" : cuda.c_str());
  std::printf("gpu: %s\n", swa::gpu_absence().c_str());
  return 0;
}
