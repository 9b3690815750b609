// The parts of verify that are about the catalogue of faults: the list, and the kill matrix.
#pragma once

#include <vector>

#include "cli/command.hpp"
#include "problem/cases.hpp"
#include "tiles/tiles.hpp"

namespace swa::commands {

// --list-faults: every fault with its class, meaning, cause and remedy.
cli::Outcome list_faults();

// --kill-matrix: which case sees which planted fault, and what the diagnosis calls it. Exit status
// 0 where every fault is killed and named and the right kernel passes every case.
cli::Outcome run_kill_matrix(const std::vector<Case>& cases, TileShape tile);

}  // namespace swa::commands
