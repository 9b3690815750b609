// The kill matrix of the kernels with faults that run on a GPU.
#pragma once

#include <string>
#include <vector>

#include "problem/cases.hpp"
#include "report/report.hpp"
#include "verify/kill_matrix.hpp"

namespace swa::commands {

// The cases as the planted GPU kernels take them: in bf16, with heads of 128 where they have as
// many elements and of 64 otherwise.
std::vector<Case> cases_for_gpu(const std::vector<Case>& cases);

// A row for each of `kernels`, which are named portable-planted:FAULT, on cases_for_gpu(cases).
std::vector<KillRow> gpu_kill_rows(const std::vector<Kernel>& kernels,
                                   const std::vector<Case>& cases);

// Whether the diagnosis names the fault, or one that does the same on every case.
bool is_explained(const KillRow& row);

// Adds what the row of a fault says to its record: null where `rows` hold none of it.
void add_gpu_cells(report::Record& record, const Fault& fault, const std::vector<KillRow>& rows,
                   const std::vector<Case>& cases);
// How many were killed and named, and those that were not.
std::vector<std::string> gpu_lines(const std::vector<KillRow>& rows);

}  // namespace swa::commands
