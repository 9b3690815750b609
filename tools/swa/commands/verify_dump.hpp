// The tensors of cases that do not pass: swa verify --dump.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "commands/case_folders.hpp"
#include "problem/cases.hpp"
#include "reference/oracle.hpp"
#include "verify/kernel.hpp"

namespace swa::commands {

// The same kernel, whose first output, which is that for the inputs of the case, is also put into
// `first`.
Kernel keep_first(const Kernel& kernel, Attention& first);

class Dump {
 public:
  // Throws as NewFolder does.
  explicit Dump(const std::string& folder);

  // The inputs and the expected output of case `index` of the run, once; and what a kernel returned
  // for them, in a folder of its own, unless it is empty. Where the system refuses, nothing of this
  // call stays and no later one writes.
  void add(const Case& one, std::size_t index, const Inputs& inputs, const Oracle& expected,
           const std::string& kernel, const Attention& got);
  // Writes the case file; a sentence that says what is there.
  std::string finish();
  std::size_t cases() const { return cases_.size(); }

 private:
  void write(const std::string& folder, const Case& one, const Inputs& inputs,
             const Oracle& expected);
  std::string free_name(const std::string& folder, const std::string& kernel) const;

  NewFolder target_;
  std::vector<Case> cases_;
  std::optional<std::size_t> last_;  // index of the last of them
  std::string trouble_;
};

}  // namespace swa::commands
