#include "terminal/interrupt.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>

#include "reference/parallel.hpp"

namespace swa::terminal {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};

// A signal that was ignored from the start, as in a background job of a script, stays ignored.
void set_all(void (*handler)(int)) {
  for (const int number : kSignals) {
    if (std::signal(number, handler) == SIG_IGN) std::signal(number, SIG_IGN);
  }
}

// The next signal meets the default action, which ends the process.
extern "C" void on_signal(int) {
  request_stop();
  set_all(SIG_DFL);
}

}  // namespace

StopOnInterrupt::StopOnInterrupt() {
  set_all(on_signal);
}

StopOnInterrupt::~StopOnInterrupt() {
  set_all(SIG_DFL);
}

void say_interrupted(const std::string& what_is_known) {
  const std::string line = fmt::format("interrupted: {}\n", what_is_known);
  std::fputs(line.c_str(), stderr);
}

}  // namespace swa::terminal
