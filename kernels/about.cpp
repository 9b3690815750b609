#include "kernels/about.hpp"

#include <fmt/format.h>

namespace swa {
namespace {

std::string version_text(int version) {
  if (version == 0) return {};
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

CudaFacts cuda_facts() {
  CudaFacts facts;
  facts.runtime = version_text(device::runtime_version());
  facts.driver = version_text(device::driver_version());
  facts.archs = SWA_ARCH_NAMES;
  facts.devices = device::all();
  return facts;
}

}  // namespace swa
