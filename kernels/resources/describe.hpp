// From the name that the compiler gives an instance to what it is.
#pragma once

#include "kernels/resources.hpp"
#include "kernels/resources/compiled.hpp"

namespace swa {

// A kernel that has no description here goes by its own name, for any head dims and without a tile.
Resources describe(const CompiledKernel& compiled);

}  // namespace swa
