// What verify found, as a record.
#pragma once

#include <string>
#include <vector>

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

// Why a diagnosis is believed, in a clause or two.
std::string evidence(const Diagnosis& diagnosis, const Verdict& verdict);
// What went wrong, and the diagnosis: lines under the command that runs the case again.
std::vector<std::string> findings(const Problem& problem, const Verdict& verdict);
// What probe and poison tests showed, and what was left out: lines for a single case.
std::vector<std::string> facts(const Problem& problem, const Verdict& verdict);

// The mask that the probe recovered, against the problem's own: of the first head whose rows are
// not all as they should be, or of the first. Empty where there was no probe. Throws UsageError
// where it would not be readable.
std::string figure_of(const Problem& problem, const Verdict& verdict);

}  // namespace swa::commands
