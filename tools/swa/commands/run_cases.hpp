// Every kernel on every case, and what became of each.
#pragma once

#include <string>
#include <vector>

#include "commands/verify_run.hpp"
#include "commands/verify_summary.hpp"
#include "reference/oracle.hpp"
#include "report/report.hpp"

namespace swa::commands {

// What became of one case: a record for each kernel, of random cases for each that did not pass,
// and the lines that name failures.
struct CaseResult {
  std::vector<report::Record> records;
  std::vector<std::string> facts;  // of probe and poison
  std::string figure;
  std::vector<std::string> failures;
  std::vector<Failure> failed_kernels;
  std::vector<std::string> why_unsupported;
  std::vector<Status> statuses;  // of each kernel
  Index passed = 0, failed = 0, unsupported = 0;
  Index incomplete = 0;  // a check was left out for its size
};

struct Results {
  std::vector<CaseResult> cases;  // the first ones of those that were asked for, in their order
  bool failed_fast = false;       // the last one did not pass, and was to end the run
};

// Up to the first case that a signal left out or, where that is asked for, that did not pass.
Results run_cases(const VerifyRun& options);

// Where the CPU's oracle would take many seconds, the GPU's is preferred.
bool wants_gpu_oracle(const Problem& problem);
// The oracle's answer; the GPU's only after some rows of it came out on the CPU too.
Oracle expected_of(const Problem& problem, const Inputs& inputs);

// The options that say how a kernel runs, and which; a blank comes first.
std::string kernel_words(const VerifyRun& options, const std::string& kernel);
// The command that runs one kernel on one case again.
std::string repro_line(const VerifyRun& options, const Case& one, const std::string& kernel);

template <typename T>
void append_all(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace swa::commands
