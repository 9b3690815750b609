// The memory that a problem takes on the CPU.
#pragma once

#include "problem/problem.hpp"
#include "tiles/tiles.hpp"

namespace swa::commands {

// Inputs, oracle, tiled kernel and what a cache lays out together, as a double.
double bytes_of(const Problem& problem, TileShape tile);

// Throws CannotRun where that, and `further` bytes, are more than a process may take here.
void require_memory_of(const Problem& problem, TileShape tile, double further = 0);

}  // namespace swa::commands
