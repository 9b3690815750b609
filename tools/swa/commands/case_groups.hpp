// The order in which a long list of cases runs: small ones side by side, large ones alone.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "problem/cases.hpp"

namespace swa::commands {

// Neighbouring cases [begin, end) that run side by side, each on one thread; a case by itself has
// all threads inside.
struct CaseGroup {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
};

// A case shares its group where it has too few pairs to keep all threads busy for long, and where
// as many cases of its size as there are threads fit into `spare_bytes` together: so no choice of
// cases in flight passes them.
std::vector<CaseGroup> group_cases(const std::vector<Case>& cases,
                                   const std::function<double(const Problem&)>& bytes_of,
                                   double spare_bytes, Index threads);

// Calls body(i) for each case, group by group. Where a signal stops it before the end, some of the
// later cases are left out or broken off by Stopped.
void run_groups(const std::vector<CaseGroup>& groups, const std::function<void(std::size_t)>& body);

}  // namespace swa::commands
