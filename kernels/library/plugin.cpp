// The portable kernels as a device plug-in (verify/swa_plugin.h), in a shared library.
#include <exception>
#include <string>

#include "kernels/library/call.hpp"

namespace swa::library {
namespace {

int run(swa_attention& a) {
  a.memory = SWA_DEVICE;
  a.granule = 128;  // rows of the longest query tile
  std::string reason = refusal(a);
  // The struct has them in the problem's dtype, and the kernels read float.
  if (a.has_sink_logits != 0) reason = "takes no sink logits; swa_forward() does";
  const Problem problem = problem_of(a);
  const GpuKernel* const kernel = reason.empty() ? kernel_for(problem, reason) : nullptr;
  if (kernel == nullptr) {
    return answer(a, a.task == SWA_DESCRIBE ? SWA_UNSUPPORTED : SWA_FAILED, reason);
  }
  if (a.task == SWA_FORWARD) launch(a, problem, *kernel);
  return SWA_OK;
}

}  // namespace
}  // namespace swa::library

int swa_plugin(struct swa_attention* attention) {
  SWA_PLUGIN_BEGIN(attention);
  try {
    return swa::library::run(*attention);
  } catch (const std::exception& error) {
    return swa::library::answer(*attention, SWA_FAILED, error.what());
  }
}
