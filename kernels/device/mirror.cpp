#include <cuda_runtime_api.h>

#include "kernels/device/buffer.hpp"
#include "kernels/device/call.hpp"
#include "kernels/forward.hpp"

namespace swa {
namespace {

class Mirror : public DeviceMirror {
 public:
  std::byte* upload(const std::byte* from, std::size_t bytes) override {
    if (buffer_.bytes() < bytes) buffer_ = device::Buffer(bytes);
    buffer_.upload({from, bytes});
    return static_cast<std::byte*>(buffer_.get());
  }
  void download(std::byte* to, std::size_t bytes) override {
    SWA_CUDA(cudaDeviceSynchronize());
    buffer_.download({to, bytes});
  }

 private:
  device::Buffer buffer_;
};

}  // namespace

std::unique_ptr<DeviceMirror> device_mirror() {
  if (!gpu_absence().empty()) return nullptr;
  return std::make_unique<Mirror>();
}

}  // namespace swa
