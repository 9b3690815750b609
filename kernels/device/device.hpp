// The GPU that the kernels run on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace swa::device {

struct Facts {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  std::size_t memory = 0, l2 = 0;             // bytes
  std::size_t shared_per_multiprocessor = 0;  // bytes
  std::size_t shared_per_block = 0;           // bytes, at most
};

// Versions of CUDA, 1000 major + 10 minor: what the driver here can, 0 without one, and what the
// build was made with.
int driver_version();
int runtime_version();

// All of them, as the CUDA runtime counts; empty where absence() says why.
std::vector<Facts> all();

// Why no GPU can be used, as a clause: there is no driver, no device, or none that the kernels were
// built for. Empty where one can.
std::string absence();

// Bytes that the device has left.
std::size_t spare_bytes();

}  // namespace swa::device
