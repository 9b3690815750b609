#include "kernels/forward.hpp"

#include "kernels/device/call.hpp"
#include "kernels/device/device.hpp"
#include "kernels/device/tensors.hpp"
#include "kernels/gpu_kernel.hpp"

namespace swa {
namespace {

// Uploads, launches, waits, downloads.
void run(const GpuKernel& kernel, const Problem& p, const Inputs& inputs, Attention& outputs) {
  const device::Tensors tensors(p, inputs, p.dtype);
  Workspace workspace;
  const GpuLaunch launch = kernel.prepare(p, workspace);
  device::require(launch(tensors.params(), nullptr), kernel.name.c_str());
  SWA_CUDA(cudaDeviceSynchronize());
  tensors.read(outputs);
}

}  // namespace

std::vector<Kernel> gpu_kernels() {
  std::vector<Kernel> kernels;
  if (!gpu_absence().empty()) return kernels;
  for (const GpuKernel& gpu : all_gpu_kernels()) {
    Kernel kernel;
    kernel.name = gpu.name;
    kernel.sums = gpu.sums;
    kernel.granule = gpu.granule;
    kernel.unsupported = gpu.unsupported;
    kernel.run = [&gpu](const Problem& p, const Inputs& inputs, Attention& outputs) {
      run(gpu, p, inputs, outputs);
    };
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::string gpu_absence() {
  return device::absence();
}

}  // namespace swa
