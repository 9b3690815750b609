// The kernels that verify can judge, behind one interface.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.hpp"
#include "tiles/tiles.hpp"
#include "verify/tolerance.hpp"

namespace swa {

struct Kernel {
  std::string name;
  // Why the kernel does not support a problem; nothing where it does.
  std::function<std::optional<std::string>(const Problem&)> unsupported;
  // Writes outputs that were poisoned before, rounded to the problem's dtype. A kernel that returns
  // no log-sum-exp clears `lse`.
  std::function<void(const Problem&, const Inputs&, Attention&)> run;
  SumRuns sums = {};
  // The tile that a problem is computed with; null where nobody knows it.
  std::function<TileShape(const Problem&)> tile = {};
  std::optional<Index> granule;  // isolation granule in keys that it declares
};

// Why a kernel that reads the tensors k and v as they are does not support a problem: its cache is
// a ring, or paged. Nothing where it is contiguous.
std::optional<std::string> needs_contiguous(const Problem& problem);

// What the kernel leaves in outputs that were poisoned before. Throws what it throws.
Attention run_poisoned(const Kernel& kernel, const Problem& problem, const Inputs& inputs);

// cpu-tiled: the tiled online softmax, in double for fp64 and in float for every other dtype.
std::vector<Kernel> cpu_kernels(TileShape tile);

// Visible pairs over all sequences and query heads, as a double: what the answer needs.
double visible_pairs_of(const Problem& problem);

// Whether `name` matches `pattern`; * stands for any characters and ? for one.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace swa
