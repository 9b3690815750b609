// Case files: problems with a name, one [[case]] of TOML each. docs/cases.md has the keys.
#pragma once

#include <string>
#include <vector>

#include "problem/problem.hpp"

namespace swa {

struct Case {
  std::string name;  // empty for a problem of the command line
  Problem problem;
  std::string note = {};  // what the case is there for; may be empty
};

// The cases of a file, in its order; names differ. The words and rules of a problem are those of
// the command line. Throws UsageError with file, line and key for what is unknown, missing, out of
// range or contradicts itself.
std::vector<Case> read_cases(const std::string& path);

// One [[case]] with the keys that recreate the problem, defaults left out. It reads back to an
// equal case where the problem is one that words state: a band that ends at the query is written as
// a causal window is, and n_q and n_k of packed sequences are those of the longest.
std::string to_toml(const Case& one);

}  // namespace swa
