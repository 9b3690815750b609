// Launches that are repeated and timed.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>

namespace swa::device {

class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(cudaStream_t stream);
  // Waits until both have passed.
  double seconds_since(const Event& start) const;

 private:
  cudaEvent_t event_ = nullptr;
};

class OwnStream {
 public:
  OwnStream();
  ~OwnStream();
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

using Launch = std::function<cudaError_t(cudaStream_t)>;

// A launch that can be repeated: recorded as a graph, or made anew each time. It has run once
// before the constructor returns, so that its code is loaded.
class Replayed {
 public:
  Replayed(Launch launch, std::string name, bool as_graph, cudaStream_t stream);
  ~Replayed();
  Replayed(Replayed&& other) noexcept;
  Replayed& operator=(Replayed&&) = delete;

  void run() const;  // throws what require() does, with the name

 private:
  Launch launch_;
  std::string name_;
  cudaStream_t stream_;
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace swa::device
