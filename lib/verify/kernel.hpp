// The kernels that verify can judge, behind one interface.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.hpp"
#include "reference/oracle.hpp"
#include "tiles/tiles.hpp"

namespace swa {

struct Kernel {
  std::string name;
  // Why the kernel cannot run a problem; nothing where it can.
  std::function<std::optional<std::string>(const Problem&)> refuses;
  // Outputs rounded to the problem's dtype. Elements never written hold NaN.
  std::function<Attention(const Problem&, const Inputs&)> run;
};

// cpu-tiled: the tiled online softmax, in double for fp64 and in float for every other dtype.
std::vector<Kernel> cpu_kernels(TileShape tile);

// Whether `name` matches `pattern`; * stands for any characters and ? for one.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace swa
