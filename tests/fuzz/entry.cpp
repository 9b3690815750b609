// What libFuzzer calls, for the target that SWA_FUZZ_TARGET names.
#include <cstdint>

#include "fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  swa::fuzz::SWA_FUZZ_TARGET(std::as_bytes(std::span(data, size)));
  return 0;
}
