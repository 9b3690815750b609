// What verify does once it knows what to run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/verify_files.hpp"
#include "verify/judge.hpp"
#include "verify/plugin.hpp"

namespace swa::commands {

struct VerifyRun {
  std::vector<Case> cases;  // name empty where the problem came from the command line
  std::vector<Kernel> kernels;
  // Of the cases, where they were drawn: the report is then about all of them together.
  std::optional<std::uint64_t> seed;
  TileShape tile;
  bool fail_fast = false;
  Checks checks;
  bool figure = false;              // of the recovered mask; one case and one kernel then
  std::string check_words;          // that the repro line repeats
  double timeout = kPluginTimeout;  // seconds
  FromFiles files;
  std::shared_ptr<Dump> dump;  // may be none
};

// Runs every kernel on every case. Exit status 0 where none failed, 1 where one did.
cli::Outcome run(const VerifyRun& options);

}  // namespace swa::commands
