#include "kernels/forward.hpp"

#include "kernels/device/call.hpp"
#include "kernels/device/device.hpp"
#include "kernels/device/shared_memory.hpp"
#include "kernels/device/tensors.hpp"
#include "kernels/gpu_kernel.hpp"

namespace swa {
namespace {

// A kernel that reads what it did not write shall be seen.
void poison_shared_memory() {
  static const device::Facts kGpu = device::all().front();
  SWA_CUDA(device::poison_shared_memory(kGpu.multiprocessors,
                                        static_cast<int>(kGpu.shared_per_block), nullptr));
}

// Launches, waits, downloads.
void run_launch(const std::string& kernel, const GpuLaunch& launch, const ForwardParams& params,
                const device::Tensors& tensors, Attention& outputs) {
  poison_shared_memory();
  device::require(launch(params, nullptr), kernel.c_str());
  SWA_CUDA(cudaDeviceSynchronize());
  tensors.read(outputs);
}

void run(const GpuKernel& kernel, const Problem& p, const Inputs& inputs, Attention& outputs) {
  const device::Tensors tensors(p, inputs, p.dtype);
  Workspace workspace;
  const GpuLaunch launch = kernel.prepare(p, workspace);
  run_launch(kernel.name, launch, tensors.params(), tensors, outputs);
}

std::vector<Kernel> dressed(const std::vector<GpuKernel>& all) {
  std::vector<Kernel> kernels;
  if (!gpu_absence().empty()) return kernels;
  for (const GpuKernel& gpu : all) {
    Kernel kernel;
    kernel.name = gpu.name;
    kernel.sums = gpu.sums;
    kernel.tile = gpu.tile;
    kernel.granule = gpu.granule;
    kernel.unsupported = gpu.unsupported;
    kernel.run = [&gpu](const Problem& p, const Inputs& inputs, Attention& outputs) {
      run(gpu, p, inputs, outputs);
    };
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace

std::vector<Kernel> gpu_kernels() {
  return dressed(all_gpu_kernels());
}

std::vector<Kernel> planted_gpu_kernels() {
  return dressed(all_planted_gpu_kernels());
}

std::vector<Attention> gpu_layers(const std::string& name, const Problem& p, const Inputs& inputs,
                                  const std::vector<Window>& windows) {
  device::Tensors tensors(p, inputs, p.dtype);
  Workspace workspace;
  const GpuLaunch launch = gpu_kernel(name).prepare(p, workspace);
  std::vector<Attention> layers;
  for (const Window& window : windows) {
    ForwardParams params = tensors.params();
    params.window = window;
    tensors.poison_again();
    layers.push_back(poisoned_outputs(p));
    run_launch(name, launch, params, tensors, layers.back());
  }
  return layers;
}

std::string gpu_absence() {
  return device::absence();
}

}  // namespace swa
