// Any set of keys of one row, some of them perhaps counted more than once.
#pragma once

#include <vector>

#include "mask/window.hpp"

namespace swa {

// Keys [begin, end), each of them `times` times.
struct KeyRun {
  Index begin = 0, end = 0, times = 1;
  friend bool operator==(const KeyRun&, const KeyRun&) = default;
};

using KeyRuns = std::vector<KeyRun>;  // ascending, disjoint, none empty, neighbours differ in times

// Adds a run behind the others; an empty one is left out, one that goes on where the last ends is
// joined to it.
inline void append(KeyRuns& runs, const KeyRun& next) {
  if (next.end <= next.begin) return;
  if (!runs.empty() && runs.back().end == next.begin && runs.back().times == next.times) {
    runs.back().end = next.end;
  } else {
    runs.push_back(next);
  }
}

inline KeyRuns runs_of(const RowKeys& keys) {
  KeyRuns runs;
  append(runs, {keys.sinks.begin, keys.sinks.end});
  append(runs, {keys.band.begin, keys.band.end});
  return runs;
}

}  // namespace swa
