// What signals do while a long run lives, and after it.
#include "terminal/interrupt.hpp"

#include <doctest/doctest.h>

#include "parallel.hpp"

using swa::stop_requested;
using swa::terminal::StopOnInterrupt;

namespace {

int heard = 0;
void hear(int) {
  ++heard;
}

// Another action for a signal, as a program that calls ours may have chosen.
class Action {
 public:
  Action(int number, void (*handler)(int)) : number_(number) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_NODEFER;
    sigaction(number, &action, &before_);
  }
  ~Action() { sigaction(number_, &before_, nullptr); }
  Action(const Action&) = delete;
  Action& operator=(const Action&) = delete;

 private:
  int number_;
  struct sigaction before_ {};
};

struct sigaction now(int number) {
  struct sigaction action {};
  sigaction(number, nullptr, &action);
  return action;
}

bool has(int number, void (*handler)(int)) {
  return now(number).sa_handler == handler;
}

}  // namespace

TEST_CASE("a signal asks for a stop and afterwards means what it meant before") {
  for (const int number : {SIGINT, SIGTERM}) {
    CAPTURE(number);
    const Action action(number, hear);
    heard = 0;
    {
      const StopOnInterrupt stop;
      CHECK_FALSE(stop_requested());
      raise(number);
      CHECK(stop_requested());
      CHECK(has(SIGINT, SIG_DFL));  // the next one ends the process
      CHECK(has(SIGTERM, SIG_DFL));
    }
    CHECK_FALSE(stop_requested());
    CHECK((now(number).sa_flags & SA_NODEFER) != 0);
    CHECK(heard == 0);
    raise(number);
    CHECK(heard == 1);
  }
}

TEST_CASE("a signal that is ignored stays ignored") {
  const Action ignored(SIGINT, SIG_IGN);
  {
    const StopOnInterrupt stop;
    CHECK(has(SIGINT, SIG_IGN));
    raise(SIGINT);
    CHECK_FALSE(stop_requested());
    raise(SIGTERM);
    CHECK(stop_requested());
    CHECK(has(SIGINT, SIG_IGN));
  }
  CHECK(has(SIGINT, SIG_IGN));
}
