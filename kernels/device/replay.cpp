#include "kernels/device/replay.hpp"

#include <utility>

#include "kernels/device/call.hpp"

namespace swa::device {

Event::Event() {
  SWA_CUDA(cudaEventCreate(&event_));
}

Event::~Event() {
  cudaEventDestroy(event_);
}

void Event::record(cudaStream_t stream) {
  SWA_CUDA(cudaEventRecord(event_, stream));
}

double Event::seconds_since(const Event& start) const {
  float milliseconds = 0;
  SWA_CUDA(cudaEventSynchronize(event_));
  SWA_CUDA(cudaEventElapsedTime(&milliseconds, start.event_, event_));
  return static_cast<double>(milliseconds) * 1e-3;
}

OwnStream::OwnStream() {
  SWA_CUDA(cudaStreamCreate(&stream_));
}

OwnStream::~OwnStream() {
  cudaStreamDestroy(stream_);
}

Replayed::Replayed(Launch launch, std::string name, bool as_graph, cudaStream_t stream)
    : launch_(std::move(launch)), name_(std::move(name)), stream_(stream) {
  require(launch_(stream_), name_.c_str());  // a capture must not load code
  SWA_CUDA(cudaStreamSynchronize(stream_));
  if (!as_graph) return;
  cudaGraph_t graph = nullptr;
  SWA_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  const cudaError_t launched = launch_(stream_);
  SWA_CUDA(cudaStreamEndCapture(stream_, &graph));
  require(launched, name_.c_str());
  const cudaError_t made = cudaGraphInstantiate(&graph_, graph, 0);
  cudaGraphDestroy(graph);
  require(made, "cudaGraphInstantiate");
}

Replayed::~Replayed() {
  if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
}

Replayed::Replayed(Replayed&& other) noexcept
    : launch_(std::move(other.launch_)),
      name_(std::move(other.name_)),
      stream_(other.stream_),
      graph_(std::exchange(other.graph_, nullptr)) {}

void Replayed::run() const {
  require(graph_ == nullptr ? launch_(stream_) : cudaGraphLaunch(graph_, stream_), name_.c_str());
}

}  // namespace swa::device
