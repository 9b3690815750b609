// The options of verify and bench that say which cases run.
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
  // Where no problem is stated the usual suite's are meant; an empty name refuses that.
  CaseOptions(cli::Command& command, std::string usual_suite, bool with_random);

  // At least one. Throws where two sources contradict each other, or --match picks none.
  std::vector<Case> read() const;
  // Those of --random, where it was given. Without --seed each call draws others.
  std::optional<DrawnCases> draw() const;
  const cli::Option& list() const { return list_; }
  const cli::Option& random() const { return *random_; }
  const cli::Option& seed() const { return problem_.seed; }
  // Whether the problems are those of the command line.
  bool is_stated() const {
    return problem_.given() && !suite_.given() && !file_.given() && !gives_random();
  }
  // The cases of a folder's case file; what names other problems is refused.
  std::vector<Case> read_folder(const std::string& case_file) const;

 private:
  std::vector<Case> read_source() const;
  std::vector<Case> read_file() const;
  bool gives_random() const { return random_ != nullptr && random_->given(); }

  cli::ProblemOptions problem_;
  std::string usual_suite_;
  const cli::Option &suite_, &file_, *random_, &match_, &list_;
};

// The cases as a table, nothing run.
cli::Outcome list_cases(const std::vector<Case>& cases, const std::string& schema);

}  // namespace swa::commands
