// What the program says of itself.
#pragma once

#include "report/report.hpp"

namespace swa::cli {

// The version, then what the binary was made of and with: compiler, libraries, CUDA, device.
report::Report version_report();
// The GPUs that kernels could run on, or why there are none.
report::Report devices_report();

}  // namespace swa::cli
