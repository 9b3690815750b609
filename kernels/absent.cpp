// The GPU kernels of a build without CUDA: none.
#include "error.hpp"
#include "kernels/about.hpp"
#include "kernels/forward.hpp"
#include "kernels/resources/compiled.hpp"
#include "kernels/timer.hpp"

namespace swa {

std::vector<Kernel> gpu_kernels() {
  return {};
}

std::vector<Kernel> planted_gpu_kernels() {
  return {};
}

std::vector<Attention> gpu_layers(const std::string& /*kernel*/, const Problem& /*problem*/,
                                  const Inputs& /*inputs*/,
                                  const std::vector<Window>& /*windows*/) {
  throw CannotRun(gpu_absence());
}

std::optional<Oracle> gpu_oracle(const Problem& /*problem*/, const Inputs& /*inputs*/) {
  return std::nullopt;
}

std::unique_ptr<DeviceMirror> device_mirror() {
  return nullptr;
}

std::vector<GpuWork> gpu_work(const Problem& /*problem*/) {
  return {};
}

std::vector<std::string> gpu_kernel_names() {
  return {};
}

std::vector<CompiledKernel> compiled_kernels() {
  return {};
}

struct GpuTimer::State {};
GpuTimer::GpuTimer(const Problem& /*problem*/) {
  throw CannotRun(gpu_absence());
}
GpuTimer::~GpuTimer() = default;
double GpuTimer::time(const std::string& /*kernel*/) {
  throw CannotRun(gpu_absence());
}
Index GpuTimer::nonfinite() {
  throw CannotRun(gpu_absence());
}

std::string gpu_absence() {
  return "this build has no CUDA kernels";
}

CudaFacts cuda_facts() {
  return {};
}

}  // namespace swa
