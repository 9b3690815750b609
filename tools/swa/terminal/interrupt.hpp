// Ctrl-C during a long run: stop cleanly, and report what is known so far.
#pragma once

#include <string>

namespace swa::terminal {

inline constexpr int kInterrupted = 130;  // the exit status

// While it lives, the first SIGINT or SIGTERM asks all loops to stop (reference/parallel.hpp), and
// the next one ends the process at once. Without it a signal ends the process as usual.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
};

// Says on stderr that the run was interrupted, and what its report holds.
void say_interrupted(const std::string& what_is_known);

}  // namespace swa::terminal
