// The figures that a GPU is needed for, and those of compiled GPU code.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "chapter/figures.hpp"
#include "kernels/resources.hpp"
#include "problem/problem.hpp"
#include "reference/oracle.hpp"
#include "verify/kernel.hpp"

namespace swa::chapter {

// What these figures are computed with. A test plays it with CPU kernels.
struct Gpu {
  std::vector<Kernel> kernels;  // empty: there is no GPU, and the figures wait for one
  std::function<Oracle(const Problem&, const Inputs&)> oracle;
  // What a kernel that is planned once returns for each window, launch by launch.
  std::function<std::vector<Attention>(const std::string& kernel, const Problem&, const Inputs&,
                                       const std::vector<Window>&)>
      layers;
  // The time of a launch. Throws CannotRun where the GPU's memory does not suffice.
  std::function<double(const std::string& kernel, const Problem&)> seconds;
  std::vector<Resources> compiled;  // of this build, GPU or not
};

// Case 3: what the compiler made of the kernels. Six rows.
void compile_check_rows(Figures& figures, const std::vector<Resources>& instances);
// Case 3: the largest error of problems in fp32, to a power of ten, where tensor cores take the
// factors of each product in TF32.
void tf32_row(Figures& figures, const Gpu& gpu, const std::vector<Problem>& problems);

// Section 6: a windowed layer in bf16, judged. A row named by n_q and the window's width.
void functional_row(Figures& figures, const Gpu& gpu, const Problem& problem);
// Section 6: how time grows with N at a fixed window.
void growth_rows(Figures& figures, const Gpu& gpu);

// Exercise 3: a stack LLLLLG whose layers differ in the window of the launch alone, the global one
// having W = n_k, and the chapter's W = 10,000 once more.
void window_per_layer_row(Figures& figures, const Gpu& gpu);

}  // namespace swa::chapter
