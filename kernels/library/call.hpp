// A call of the C interface as the kernels want it. Private to this room.
#pragma once

#include <string>

#include "kernels/gpu_kernel.hpp"
#include "kernels/params.h"
#include "problem/problem.hpp"
#include "verify/swa_plugin.h"

namespace swa::library {

Problem problem_of(const swa_attention& call);

// Why none of the kernels can take what the struct says; empty where one may.
std::string refusal(const swa_attention& call);

// The kernel for the problem, few queries to portable-decode and the rest to portable-prefill;
// null, with the reason, where none takes it.
const GpuKernel* kernel_for(const Problem& problem, std::string& reason);

// Pointers, strides and lengths of the call; the lengths lie in memory that lives as long as no
// other problem is asked for.
ForwardParams params_of(const swa_attention& call, const Problem& problem);

void launch(const swa_attention& call, const Problem& problem, const GpuKernel& kernel);

// Writes the message and returns the result.
int answer(swa_attention& call, int result, const std::string& message);

}  // namespace swa::library
