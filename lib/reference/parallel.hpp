#pragma once

#include <functional>

#include "mask/window.hpp"

namespace swa {

// Calls body(i) once for each i in [0, count), on all cores, in no particular order. The first
// exception that a call throws is rethrown after all threads have stopped.
void parallel_for(Index count, const std::function<void(Index)>& body);

}  // namespace swa
