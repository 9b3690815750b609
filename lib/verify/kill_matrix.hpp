// Does a suite see every known fault, and does the diagnosis name it?
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "problem/cases.hpp"
#include "verify/faults.hpp"

namespace swa {

struct KillRow {
  const Fault* planted = nullptr;
  std::vector<std::size_t> killed_by;      // cases whose check fails, ascending
  std::vector<std::size_t> left_out = {};  // cases that the kernel does not support
  // What the diagnosis says first, over all cases of the suite: one fault or a pair; empty where it
  // has no explanation.
  std::string diagnosed_as;
  std::vector<std::string> equivalent_to;  // faults that do the same on every case

  bool survives() const { return killed_by.empty(); }
  bool named() const { return diagnosed_as == planted->name; }
};

struct KillMatrix {
  std::vector<KillRow> faults;                 // the whole catalogue
  std::vector<std::size_t> false_accusations;  // cases on which the right kernel fails
};

// Plants every fault in the tiled forward and runs all cases. A case kills a fault where an element
// of the output or of the lse is out of its bound. `advance` is told each finished fault.
KillMatrix kill_matrix(const std::vector<Case>& cases, TileShape tile,
                       const std::function<void(const Fault&)>& advance = {});

// The same row of another kernel with the fault, which knows its tile for each problem it supports.
// Throws what the kernel throws.
KillRow kill_row(const Kernel& kernel, const Fault& planted, const std::vector<Case>& cases);

}  // namespace swa
