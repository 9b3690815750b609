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

std::vector<std::string> usual_gpu_kernels() {
  return {};
}

std::vector<std::string> mma_units(Dtype /*dtype*/) {
  return {};
}

// There is no timer, so that no member of one is ever called.
struct GpuTimer::State {};
GpuTimer::GpuTimer(const Problem& /*problem*/, Replay /*replay*/) {
  throw CannotRun(gpu_absence());
}
GpuTimer::~GpuTimer() = default;
GpuTimer::Entry GpuTimer::add_kernel(const std::string& /*name*/) {
  return 0;
}
GpuTimer::Entry GpuTimer::add_empty(LaunchGrid /*grid*/) {
  return 0;
}
GpuTimer::Entry GpuTimer::add_read(LaunchGrid /*grid*/) {
  return 0;
}
GpuTimer::Entry GpuTimer::add_copy(LaunchGrid /*grid*/) {
  return 0;
}
GpuTimer::Entry GpuTimer::add_mma(const std::string& /*unit*/, double /*flops*/) {
  return 0;
}
double GpuTimer::roof_bytes() const {
  return 0;
}
double GpuTimer::mma_flops(Entry /*entry*/) const {
  return 0;
}
SampleCheck GpuTimer::check(Entry /*kernel*/) {
  return {};
}
double GpuTimer::time(Entry /*entry*/) {
  return 0;
}
std::vector<double> GpuTimer::time_sustained(Entry /*entry*/, double /*seconds*/) {
  return {};
}
GpuCycles GpuTimer::count_cycles(Entry /*kernel*/) {
  return {};
}

std::string gpu_absence() {
  return "this build has no CUDA kernels";
}

CudaFacts cuda_facts() {
  return {};
}

}  // namespace swa
