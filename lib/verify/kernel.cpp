#include "verify/kernel.hpp"

#include "reference/tiled.hpp"

namespace swa {

std::vector<Kernel> cpu_kernels(TileShape tile) {
  Kernel tiled;
  tiled.name = "cpu-tiled";
  tiled.refuses = [](const Problem&) { return std::nullopt; };
  tiled.run = [tile](const Problem& problem, const Inputs& inputs) -> Attention {
    TiledOptions options;
    options.tile = tile;
    Attention result = problem.dtype == Dtype::fp64
                           ? tiled_forward<double>(problem, inputs, options)
                           : tiled_forward<float>(problem, inputs, options);
    round_to(problem.dtype, result.out.data);
    return result;
  };
  return {tiled};
}

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.empty()) return name.empty();
  if (pattern.front() == '*') {
    return matches(pattern.substr(1), name) || (!name.empty() && matches(pattern, name.substr(1)));
  }
  if (name.empty() || (pattern.front() != '?' && pattern.front() != name.front())) return false;
  return matches(pattern.substr(1), name.substr(1));
}

}  // namespace swa
