// Ctrl-C during a long run: stop cleanly, and report what is known so far.
#pragma once

#include <signal.h>

#include <array>
#include <string>

namespace swa::terminal {

inline constexpr int kInterrupted = 130;  // the exit status

// While it lives, the first SIGINT or SIGTERM asks all loops to stop (parallel.hpp), and
// the next one ends the process at once. A signal that is ignored stays so. Its end restores what
// signals did before, and lets loops run again.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;

 private:
  std::array<struct sigaction, 2> before_{};  // the actions that the end restores
};

// Says on stderr that the run was interrupted, and what its report holds.
void say_interrupted(const std::string& what_is_known);

}  // namespace swa::terminal
