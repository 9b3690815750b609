// What the machine's memory still holds.
#pragma once

#include <string>

namespace swa {

// What a process may still take here, in bytes, with a tenth left to others: nine tenths of the
// least of the machine's available memory and what its control group leaves.
double spare_bytes();

// Throws CannotRun where `bytes` are more than that.
void require_memory(double bytes, const std::string& what);

// The most memory that the process has had in use, in bytes.
double peak_bytes();

}  // namespace swa
