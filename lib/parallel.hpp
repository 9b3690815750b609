#pragma once

#include <functional>
#include <stdexcept>

#include "mask/window.hpp"

namespace swa {

// Calls body(i) once for each i in [0, count), on thread_count() threads, or as many of them as can
// be started here, in no particular order.
// Called from inside a body it runs on that body's thread alone, so loops may nest. The first
// exception that a call throws is rethrown after all threads have stopped; after request_stop() no
// further call is begun, and Stopped is thrown where any was left out.
void parallel_for(Index count, const std::function<void(Index)>& body);

// Threads that a loop runs on: all cores, unless set. Set it outside of any loop.
Index thread_count();
void set_thread_count(Index count);  // >= 1

// A loop was left before its end. Not a failure of what it ran.
class Stopped : public std::runtime_error {
 public:
  Stopped() : std::runtime_error("stopped before the end") {}
};

// Asks every loop of the process to stop. May be called by a signal handler.
void request_stop() noexcept;
bool stop_requested() noexcept;
// Loops run again. Call it outside of any loop.
void clear_stop() noexcept;

}  // namespace swa
