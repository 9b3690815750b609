// What swa bench times on the CPU: the kernels that verify judges, and the oracles it judges them
// by.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "problem/problem.hpp"
#include "reference/gemm_roof.hpp"
#include "tiles/tiles.hpp"

namespace swa {

struct TimedKernel {
  std::string name;
  std::string issued_means;   // what `issued_pairs` counts
  Index products_with_v = 1;  // 2 for the oracles, which also sum weight |v|
  std::function<bool(const Problem&)> in_double;
  std::function<double(const Problem&)> issued_pairs;  // of one head, over all sequences
  // Of its first product; oracle-dense has no blocks and gets those of the band oracle.
  std::function<GemmShape(const Problem&)> block;
  std::function<void(const Problem&, const Inputs&, Attention&)> run;

  // 2 (head_dim + head_dim_v) per visible pair, over sequences and heads: what the answer needs.
  double useful_flops(const Problem& problem) const;
  // What the products of the kernel compute, over sequences and heads.
  double issued_flops(const Problem& problem) const;
};

// cpu-tiled, oracle-band and oracle-dense.
std::vector<TimedKernel> timed_kernels(TileShape tile);

}  // namespace swa
