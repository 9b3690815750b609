// Figures of records that an earlier run, or another tool, wrote.
#pragma once

#include <string>
#include <vector>

#include "figures/figures.hpp"
#include "report/read_records.hpp"

namespace swa::commands {

// The times of records of swa bench, or of a tool that writes its keys: kernel, n_q, window (null:
// n_k in its place) and seconds (null: not timed, and left out). Where records differ in their
// regime or their threads, the name of the kernel says which. Throws UsageError for a record
// without those keys, or with other values than can be drawn, and for two records that would share
// a point.
std::vector<figures::TimePoint> time_points(const std::vector<report::ReadRecord>& records);

// The roofline of records of swa bench on a GPU, below the highest roofs that any of them measured.
// Throws UsageError for a record that measured none.
std::string roofline_of(const std::vector<report::ReadRecord>& records, const std::string& title);

}  // namespace swa::commands
