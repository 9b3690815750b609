#include <cuda_runtime_api.h>

#include <algorithm>
#include <exception>
#include <string>

#include "kernels/device/call.hpp"
#include "kernels/device/random.hpp"
#include "kernels/library/call.hpp"
#include "kernels/library/swa_library.h"
#include "kernels/sample_check.hpp"

namespace swa::library {
namespace {

// Null, with the reason, where no kernel takes the call.
const GpuKernel* kernel_of(const swa_attention& call, const Problem& problem, std::string& reason) {
  reason = refusal(call);
  return reason.empty() ? kernel_for(problem, reason) : nullptr;
}

Dtype dtype_of(int dtype) {
  switch (dtype) {
    case SWA_FP64:
      return Dtype::fp64;
    case SWA_FP32:
      return Dtype::fp32;
    case SWA_FP16:
      return Dtype::fp16;
    default:
      return Dtype::bf16;
  }
}

// Runs `work`; what it throws becomes the message.
template <class Work>
int guarded(swa_attention& call, Work work) {
  try {
    const std::string reason = work();
    return answer(call, reason.empty() ? SWA_OK : SWA_FAILED, reason);
  } catch (const std::exception& error) {
    return answer(call, SWA_FAILED, error.what());
  }
}

}  // namespace
}  // namespace swa::library

using namespace swa::library;

int swa_forward(struct swa_attention* call) {
  return guarded(*call, [&]() -> std::string {
    const swa::Problem problem = problem_of(*call);
    std::string reason;
    const swa::GpuKernel* const kernel = kernel_of(*call, problem, reason);
    if (kernel != nullptr) launch(*call, problem, *kernel);
    return reason;
  });
}

const char* swa_kernel(struct swa_attention* call) {
  const swa::GpuKernel* kernel = nullptr;
  guarded(*call, [&] {
    std::string reason;
    kernel = kernel_of(*call, problem_of(*call), reason);
    return reason;
  });
  return kernel == nullptr ? nullptr : kernel->name.c_str();
}

int swa_check(struct swa_attention* call, struct swa_check_result* result) {
  return guarded(*call, [&]() -> std::string {
    if (result->struct_size != static_cast<int>(sizeof(*result))) {
      return "swa_check_result is of another size";
    }
    const swa::Problem problem = problem_of(*call);
    // Nothing is known of how a peer sums: as of a file, runs of 16 to 256 keys are assumed.
    const swa::SampleCheck check =
        swa::check_samples(problem, params_of(*call, problem), swa::SumRuns());
    result->pass = check.pass();
    result->rows = check.rows;
    result->nonfinite = check.nonfinite;
    result->mismatches = check.output.mismatches + check.lse_mismatches;
    result->error = check.output.error;
    result->bound = check.output.bound;
    const std::string reason = check.reason();
    const std::size_t length = std::min(reason.size(), sizeof(result->message) - 1);
    std::copy_n(reason.begin(), length, result->message);
    result->message[length] = 0;
    return {};
  });
}

int swa_random_normal(void* to, int dtype, swa_int count, unsigned long seed, unsigned stream) {
  try {
    SWA_CUDA(swa::device::fill_normal(to, dtype_of(dtype), count, seed, stream));
    return SWA_OK;
  } catch (const std::exception&) {
    return SWA_FAILED;
  }
}
