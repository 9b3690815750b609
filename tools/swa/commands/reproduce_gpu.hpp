// The GPU of this machine, for the chapter's figures that need one.
#pragma once

#include "chapter/gpu_figures.hpp"

namespace swa::commands {

// Without kernels where there is no GPU, or where this build has none for it.
chapter::Gpu gpu_here();

}  // namespace swa::commands
