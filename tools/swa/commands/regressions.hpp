// Whether kernels have become slower than they were when a baseline was written.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "report/read_records.hpp"

namespace swa::commands {

struct Regressions {
  // A row for each record that is in both: kernel, problem (what the records differ in), by, before
  // and now, change_percent, and verdict: slower, faster or same.
  report::Table table;
  report::Lines counts;  // a sentence
  std::size_t slower = 0, faster = 0, same = 0;
  std::size_t added = 0, missing = 0;  // in one of both
  std::size_t unmeasured = 0;          // in both, without a measure in common
};

// Records are of the same thing where kernel, regime, threads and all that states the problem are
// equal; numbers may have been drawn from another seed. They are compared by their cycles, which do
// not move with the clock, where both have them, and by their seconds elsewhere. Slower is what
// took more than 1 + max_regression times as long, faster what the baseline took that much longer
// for. Throws UsageError where nothing can be compared, or a baseline has two records of one thing.
Regressions compare(const std::vector<report::ReadRecord>& current,
                    const std::vector<report::ReadRecord>& baseline, double max_regression);

// 5% or 5 as 0.05. Unlike cli::parse_percent, it takes any number from 0 on: a run can take more
// than twice as long.
double parse_percent(std::string_view option, std::string_view text);

}  // namespace swa::commands
