#include "commands/reproduce_gpu.hpp"

#include "commands/gpu_bench.hpp"
#include "commands/run_cases.hpp"
#include "error.hpp"
#include "kernels/forward.hpp"
#include "report/read_records.hpp"

namespace swa::commands {
namespace {

// The median of a few rounds of bench.
double seconds(const std::string& kernel, const Problem& p) {
  GpuBench bench;
  bench.cases = {{"", p}};
  bench.kernels = {kernel};
  bench.rounds = 8;
  const GpuBenchResult result = time_on_gpu(bench);
  if (!result.wrong.lines.empty()) throw CannotRun(result.wrong.lines.front());
  return report::records_of(result.table).at(0).find_number("seconds").value();
}

}  // namespace

chapter::Gpu gpu_here() {
  return {gpu_kernels(), expected_of, gpu_layers, seconds, kernel_resources()};
}

}  // namespace swa::commands
