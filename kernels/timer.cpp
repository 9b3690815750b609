#include "kernels/timer.hpp"

#include <fmt/format.h>

#include <map>

#include "error.hpp"
#include "kernels/device/call.hpp"
#include "kernels/device/device.hpp"
#include "kernels/device/tensors.hpp"
#include "kernels/forward.hpp"
#include "kernels/gpu_kernel.hpp"

namespace swa {
namespace {

class Event {
 public:
  Event() { SWA_CUDA(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record() { SWA_CUDA(cudaEventRecord(event_)); }
  // After both have passed.
  double seconds_since(const Event& start) const {
    float milliseconds = 0;
    SWA_CUDA(cudaEventSynchronize(event_));
    SWA_CUDA(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return static_cast<double>(milliseconds) * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace

struct GpuTimer::State {
  explicit State(const Problem& p) : problem(p), tensors(p), flush(4 * device::all().front().l2) {}

  Problem problem;
  device::Tensors tensors;
  device::Buffer flush;  // four times the L2
  Event start, end;
  Workspace workspace;
  std::map<std::string, GpuLaunch> launches;
};

GpuTimer::GpuTimer(const Problem& p) {
  const double needed = device::tensor_bytes(p, p.dtype);
  const auto spare = static_cast<double>(device::spare_bytes());
  if (needed > spare) {
    throw CannotRun(fmt::format("the tensors need {:.1f} GiB on the GPU, which has {:.1f} left",
                                needed / 0x1p30, spare / 0x1p30),
                    "ask for fewer tokens, heads or sequences");
  }
  state_ = std::make_unique<State>(p);
}

GpuTimer::~GpuTimer() = default;

double GpuTimer::time(const std::string& name) {
  State& s = *state_;
  auto found = s.launches.find(name);
  if (found == s.launches.end()) {
    found = s.launches.emplace(name, gpu_kernel(name).prepare(s.problem, s.workspace)).first;
  }
  s.tensors.poison_again();
  SWA_CUDA(cudaMemset(s.flush.get(), 0, s.flush.bytes()));
  s.start.record();
  device::require(found->second(s.tensors.params(), nullptr), name.c_str());
  s.end.record();
  return s.end.seconds_since(s.start);
}

Index GpuTimer::nonfinite() {
  return state_->tensors.nonfinite();
}

std::vector<GpuWork> gpu_work(const Problem& p) {
  std::vector<GpuWork> all;
  if (!gpu_absence().empty()) return all;
  for (const GpuKernel& kernel : all_gpu_kernels()) {
    GpuWork work{kernel.name, kernel.unsupported(p)};
    if (!work.unsupported) work.issued_pairs = kernel.issued_pairs(p);
    all.push_back(std::move(work));
  }
  return all;
}

std::vector<std::string> gpu_kernel_names() {
  std::vector<std::string> names;
  if (!gpu_absence().empty()) return names;
  for (const GpuKernel& kernel : all_gpu_kernels()) names.push_back(kernel.name);
  return names;
}

}  // namespace swa
