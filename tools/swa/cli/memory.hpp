#pragma once

#include <string>

namespace swa::cli {

// Bytes that a process may still take here: the least of the machine's available memory and what
// its cgroup leaves. Infinity where neither can be read.
double available_memory();

// Throws CannotRun where `bytes` are more than nine tenths of that.
void require_memory(double bytes, const std::string& what);

}  // namespace swa::cli
