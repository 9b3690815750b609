#pragma once

#include <string>

namespace swa::cli {

// Throws CannotRun where `bytes` are more than nine tenths of what a process may still take here:
// the least of the machine's available memory and what its control group leaves.
void require_memory(double bytes, const std::string& what);

// The most memory that the process has had in use, in bytes.
double peak_bytes();

}  // namespace swa::cli
