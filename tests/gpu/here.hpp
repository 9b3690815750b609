// Whether there is a GPU for the tests that need one.
#pragma once

#include <cstdio>

#include "kernels/forward.hpp"

namespace swa::test {

// Says what is missing where there is none: CTest then shows the test as skipped.
inline bool has_gpu() {
  if (gpu_absence().empty()) return true;
  std::printf("swa test skipped: %s\n", gpu_absence().c_str());
  return false;
}

}  // namespace swa::test
