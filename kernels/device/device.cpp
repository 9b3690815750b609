#include "kernels/device/device.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <stdexcept>

#include "error.hpp"
#include "kernels/device/buffer.hpp"
#include "kernels/device/call.hpp"
#include "kernels/naive/naive.hpp"

namespace swa::device {
namespace {

std::size_t size(int bytes) {
  return static_cast<std::size_t>(bytes);
}

Facts facts_of(int device) {
  cudaDeviceProp properties{};
  SWA_CUDA(cudaGetDeviceProperties(&properties, device));
  Facts facts;
  facts.name = properties.name;
  facts.major = properties.major;
  facts.minor = properties.minor;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.memory = properties.totalGlobalMem;
  facts.l2 = size(properties.l2CacheSize);
  facts.shared_per_multiprocessor = properties.sharedMemPerMultiprocessor;
  facts.shared_per_block = properties.sharedMemPerBlockOptin;
  return facts;
}

std::string find_absence() {
  int devices = 0;
  if (driver_version() == 0) return "this machine has no NVIDIA driver";
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error == cudaErrorNoDevice || (error == cudaSuccess && devices == 0)) {
    return "this machine has no NVIDIA GPU";
  }
  if (error != cudaSuccess) return fmt::format("CUDA says: {}", cudaGetErrorString(error));
  if (!has_naive_code()) {
    const Facts facts = facts_of(0);
    return fmt::format("this build has no code for the {} here (compute capability {}.{})",
                       facts.name, facts.major, facts.minor);
  }
  return {};
}

}  // namespace

void require(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // so that the next call does not report it again
  const std::string sentence =
      fmt::format("{}: {} ({})", call, cudaGetErrorString(error), cudaGetErrorName(error));
  if (error == cudaErrorMemoryAllocation) {
    throw CannotRun("the GPU's memory does not suffice: " + sentence,
                    "ask for fewer tokens or heads, or free the GPU's memory (nvidia-smi says who "
                    "holds it)");
  }
  throw std::runtime_error(sentence);
}

int driver_version() {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

int runtime_version() {
  return CUDART_VERSION;
}

std::vector<Facts> all() {
  std::vector<Facts> found;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) return found;
  for (int device = 0; device < devices; ++device) found.push_back(facts_of(device));
  return found;
}

std::string absence() {
  static const std::string kAbsence = find_absence();
  return kAbsence;
}

std::size_t spare_bytes() {
  std::size_t spare = 0, total = 0;
  SWA_CUDA(cudaMemGetInfo(&spare, &total));
  return spare;
}

Buffer::Buffer(std::size_t bytes) : bytes_(bytes) {
  if (bytes > 0) SWA_CUDA(cudaMalloc(&pointer_, bytes));
}

Buffer::Buffer(std::span<const std::byte> contents) : Buffer(contents.size()) {
  upload(contents);
}

Buffer::~Buffer() {
  cudaFree(pointer_);  // of nullptr it does nothing; an error here was reported by the call before
}

void Buffer::upload(std::span<const std::byte> from) {
  if (from.empty()) return;
  SWA_CUDA(cudaMemcpy(pointer_, from.data(), from.size(), cudaMemcpyHostToDevice));
}

void Buffer::download(std::span<std::byte> to) const {
  if (to.empty()) return;
  SWA_CUDA(cudaMemcpy(to.data(), pointer_, to.size(), cudaMemcpyDeviceToHost));
}

}  // namespace swa::device
