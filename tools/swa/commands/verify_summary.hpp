// What many records of verify have in common, in a few lines.
#pragma once

#include <string>
#include <vector>

#include "verify/judge.hpp"

namespace swa::commands {

// A kernel that did not pass a case.
struct Failure {
  std::string kernel;
  std::vector<std::string> suspects;  // faults that explain it
};

// The faults of the diagnosis, and those that do the same there.
std::vector<std::string> suspects_of(const Verdict& verdict);

// For each kernel that failed several times, the fault that explains the most of it, if any does,
// and those that explain as much.
std::vector<std::string> common_faults(const std::vector<Failure>& failures);

// Why cases were unsupported: a line for each reason, but for those of a long list.
std::vector<std::string> reasons_of_unsupported(const std::vector<std::string>& reasons);

}  // namespace swa::commands
