#include "terminal/interrupt.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdio>

#include "parallel.hpp"

namespace swa::terminal {
namespace {

constexpr std::array<int, 2> kSignals{SIGINT, SIGTERM};

struct sigaction action_of(int number) {
  struct sigaction action {};
  sigaction(number, nullptr, &action);
  return action;
}

void set(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

// The next signal meets the default action, which ends the process.
extern "C" void on_signal(int) {
  request_stop();
  for (const int number : kSignals) {
    if (action_of(number).sa_handler == on_signal) set(number, SIG_DFL);
  }
}

}  // namespace

StopOnInterrupt::StopOnInterrupt() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    before_[i] = action_of(kSignals[i]);
    // Ignored from the start, as in a background job of a script: it stays ignored.
    if (before_[i].sa_handler != SIG_IGN) set(kSignals[i], on_signal);
  }
}

StopOnInterrupt::~StopOnInterrupt() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  clear_stop();
}

void say_interrupted(const std::string& what_is_known) {
  const std::string line = fmt::format("interrupted: {}\n", what_is_known);
  std::fputs(line.c_str(), stderr);
}

}  // namespace swa::terminal
