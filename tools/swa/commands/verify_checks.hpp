// The options of verify that say what is done besides the comparison.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "verify/judge.hpp"

namespace swa::commands {

// --probe, --poison, what turns them off, and --rows.
class CheckOptions {
 public:
  explicit CheckOptions(cli::Command& command);

  // --rows asks for the probe. Throws where two of them contradict each other.
  // `usual`: when they are done where no option says it.
  Checks read(Checks::When usual) const;
  std::vector<const cli::Option*> options() const {
    return {&probe_, &no_probe_, &rows_, &poison_, &no_poison_};
  }
  // Those that were given, each with a blank before it, for the command that runs a case again.
  std::string repeated() const;

 private:
  const cli::Option &probe_, &no_probe_, &rows_, &poison_, &no_poison_;
};

}  // namespace swa::commands
