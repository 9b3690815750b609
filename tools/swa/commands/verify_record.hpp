// What verify found, as a record.
#pragma once

#include <string>

#include "commands/problem_record.hpp"
#include "mask/count.hpp"
#include "problem/cases.hpp"
#include "report/report.hpp"
#include "verify/judge.hpp"

namespace swa::commands {

// Rows of one head that see no key, over all sequences.
Count blind_rows(const Problem& problem);

// One case and one kernel; docs/verify.md has the keys. `formula` is that of the bound, `repro` the
// command that runs them again.
report::Record record_of(const Case& one, const Verdict& verdict, const ProblemColumns& columns,
                         const Oracle& oracle, const std::string& formula,
                         const std::string& repro);

}  // namespace swa::commands
