#include "kernels/forward.hpp"

#include <algorithm>
#include <stdexcept>

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

// Uploads, launches, waits, downloads.
void run(const GpuKernel& kernel, const Problem& p, const Inputs& inputs, Attention& outputs) {
  const device::Tensors tensors(p, inputs, p.dtype);
  Workspace workspace;
  const GpuLaunch launch = kernel.prepare(p, workspace);
  poison_shared_memory();
  device::require(launch(tensors.params(), nullptr), kernel.name.c_str());
  SWA_CUDA(cudaDeviceSynchronize());
  tensors.read(outputs);
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
  const std::vector<GpuKernel>& all = all_gpu_kernels();
  const auto kernel =
      std::find_if(all.begin(), all.end(), [&](const GpuKernel& k) { return k.name == name; });
  if (kernel == all.end()) throw std::logic_error("no GPU kernel is called " + name);
  device::Tensors tensors(p, inputs, p.dtype);
  Workspace workspace;
  const GpuLaunch launch = kernel->prepare(p, workspace);
  std::vector<Attention> layers;
  for (const Window& window : windows) {
    ForwardParams params = tensors.params();
    params.window = window;
    tensors.poison_again();
    poison_shared_memory();
    device::require(launch(params, nullptr), name.c_str());
    SWA_CUDA(cudaDeviceSynchronize());
    layers.push_back(poisoned_outputs(p));
    tensors.read(layers.back());
  }
  return layers;
}

std::string gpu_absence() {
  return device::absence();
}

}  // namespace swa
