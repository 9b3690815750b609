// Kernels to judge in tests: with planted faults, and one that shares no code with the tiled one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "verify/comparison.hpp"
#include "verify/faults.hpp"
#include "verify/hypotheses.hpp"
#include "verify/kernel.hpp"

namespace swa {

inline bool same_bits(const Attention& a, const Attention& b) {
  return same_bits(a.out, b.out) && same_bits(a.lse, b.lse);
}

// Of this problem alone.
inline Kernel planted_kernel(const Problem& problem, TileShape tile, const FaultSet& faults) {
  Kernel kernel;
  kernel.name = "planted";
  kernel.unsupported = [](const Problem&) { return std::nullopt; };
  kernel.run = [plan = plan_of(problem, tile, faults)](
                   const Problem&, const Inputs& in, Attention& got) { got = run_plan(plan, in); };
  kernel.sums = {tile.BN, tile.BN};
  kernel.tile = [tile](const Problem&) { return tile; };
  return kernel;
}

// How often a row counts a key; 0 where it does not see it.
using Times = std::function<double(const Mask&, Index head, Index row, Index key)>;

inline double times_seen(const Mask& mask, Index, Index row, Index key) {
  return sees(mask, row, key) ? 1 : 0;
}

// Attention in double, pair by pair, for batches without lengths. A key that a row does not see is
// not read.
inline Kernel toy_kernel(Times times = times_seen) {
  Kernel kernel;
  kernel.name = "toy";
  kernel.unsupported = [](const Problem&) { return std::nullopt; };
  kernel.run = [times](const Problem& p, const Inputs& in, Attention& got) {
    const Mask mask = p.mask();
    for (Index b = 0; b < p.batch; ++b) {
      for (Index h = 0; h < p.heads_q; ++h) {
        for (Index row = 0; row < p.n_q; ++row) {
          const double* const q = in.q.row(b, h, row);
          double* const out = got.out.row(b, h, row);
          std::fill_n(out, p.value_dim(), 0.0);
          double sum = p.sink_logits ? std::exp(in.sink_logits[static_cast<std::size_t>(h)]) : 0;
          for (Index key = 0; key < p.n_k; ++key) {
            const double count = times(mask, h, row, key);
            if (count == 0) continue;
            const double* const k = in.k.row(b, h / p.group(), key);
            const double* const v = in.v.row(b, h / p.group(), key);
            double score = 0;
            for (Index d = 0; d < p.head_dim; ++d) score += q[d] * k[d];
            score *= p.score_scale();
            if (p.softcap > 0) score = p.softcap * std::tanh(score / p.softcap);
            const double weight = count * std::exp(score);
            sum += weight;
            for (Index d = 0; d < p.value_dim(); ++d) out[d] += weight * v[d];
          }
          for (Index d = 0; d < p.value_dim() && sum > 0; ++d) out[d] /= sum;
          got.lse.row(b, h, row)[0] = std::log(sum);
        }
      }
    }
    round_to(p.dtype, got.out.data);
  };
  return kernel;
}

// The kernel, and something done to its outputs after each call.
template <class Edit>
Kernel with(Kernel kernel, Edit edit) {
  kernel.run = [run = kernel.run, edit](const Problem& p, const Inputs& in, Attention& got) {
    run(p, in, got);
    edit(p, in, got);
  };
  return kernel;
}

}  // namespace swa
