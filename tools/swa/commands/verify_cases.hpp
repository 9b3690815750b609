// The options of verify that say which cases run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/problem_sweep.hpp"

namespace swa::commands {

// Cases that were drawn, and the seed that draws them again.
struct DrawnCases {
  std::uint64_t seed = 0;
  std::vector<Case> cases;
};

// A suite, a case file, problems, or random ones; and which of the named cases.
class CaseOptions {
 public:
  explicit CaseOptions(cli::Command& command);

  // At least one. Throws where two sources contradict each other, or --match picks none.
  std::vector<Case> read() const;
  // Those of --random, where it was given. Without --seed each call draws others.
  std::optional<DrawnCases> draw() const;
  const cli::Option& list() const { return list_; }
  const cli::Option& random() const { return random_; }
  // Whether the problems are those of the command line.
  bool is_stated() const {
    return problem_.given() && !suite_.given() && !file_.given() && !random_.given();
  }
  // The cases of a folder's case file; what names other problems is refused.
  std::vector<Case> read_folder(const std::string& case_file) const;

 private:
  std::vector<Case> read_source() const;
  std::vector<Case> read_file() const;

  cli::ProblemOptions problem_;
  const cli::Option &suite_, &file_, &random_, &match_, &list_;
};

// The cases as a table, nothing run.
cli::Outcome list_cases(const std::vector<Case>& cases);

}  // namespace swa::commands
