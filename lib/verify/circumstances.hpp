// What is usual of a problem and keeps faults from showing: n_q = n_k, one head, no sinks, ...
#pragma once

#include <string>
#include <vector>

#include "problem/problem.hpp"

namespace swa {

struct Circumstance {
  bool (*holds)(const Problem&);
  // Makes it hold, and changes as little else as can be. The problem stays one that validate()
  // takes.
  void (*impose)(Problem&);
  // With the problem's numbers, where it holds: "W = 10000 > n_k = 500".
  std::string (*say)(const Problem&);
};

// Those of the sizes and the mask first.
std::vector<Circumstance> circumstances();

}  // namespace swa
