#pragma once

#include <string>

namespace swa::cli {

// Throws CannotRun where `bytes` are more than nine tenths of what a process may still take here:
// the least of the machine's available memory and what its control group leaves.
void require_memory(double bytes, const std::string& what);

}  // namespace swa::cli
