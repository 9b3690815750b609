// The chapter's Case 1 on the CPU: tiles, online softmax, the window in the loop bounds. Written
// as a kernel would be: it takes its bounds and masks from tile and key ranges, never from sees().
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "mask/key_runs.hpp"
#include "problem/problem.hpp"
#include "tiles/tiles.hpp"

namespace swa {

enum class Walk : std::uint8_t {
  forward,  // band tiles left to right, then the sink tiles
  reverse,  // band tiles right to left, from the diagonal, then the sink tiles
};

// The rows of k and v that a query head reads: key 0 of its sequence is `first_row`.
struct KvSource {
  Index batch = 0, head = 0, first_row = 0;
};

// What a kernel decides, with the right decision as the default. A planted fault
// (verify/faults.hpp) replaces one or another; without any, this is the product.
struct TiledSteps {
  double hidden_score = -std::numeric_limits<double>::infinity();  // of a key that the mask hides
  bool softcap_after_mask = false;
  bool products_in_fp16 = false;  // q.k, before it is scaled

  enum class SinkLogit : std::uint8_t {
    in_denominator,
    with_first_value,  // the sink also adds its weight times the v of key 0
    on_first_key,      // added to the score of key 0 instead
  };
  SinkLogit sink_logit = SinkLogit::in_denominator;

  enum class EmptyRow : std::uint8_t {
    zero,        // lse -inf, or the sink logit
    finite_lse,  // output 0, but lse 0
    nan,
    mean,     // of all v of the sequence
    skipped,  // never written
  };
  EmptyRow empty_row = EmptyRow::zero;

  // Both empty for the right ones. Keys are counted from the sequence's first.
  std::function<KeyRuns(const Sequence&, Index head, Index row)> keys;
  std::function<KvSource(const Sequence&, Index head)> source;
};

// The source that the steps say, or the right one: kv head h / group of the sequence's own keys.
inline KvSource source_of(const TiledSteps& steps, const Problem& p, const Sequence& s,
                          Index head) {
  return steps.source ? steps.source(s, head) : KvSource{s.batch, head / p.group(), s.k_row};
}

struct TiledOptions {
  TileShape tile;
  Walk walk = Walk::forward;
  // Replaces a running maximum of -inf by 0 before it is subtracted. Without it a row whose first
  // visited tile holds none of its keys becomes NaN: exp(-inf - -inf).
  bool guard = true;
  TiledSteps steps = {};
};

// The key tiles of a query tile in the order in which the tiled forward visits them.
std::vector<Index> visit_order(const TileWalk& walk, Walk order);

struct TiledResult : Attention {
  Index full = 0, partial = 0, empty = 0;  // visited tiles by class, over all heads
};

// Real (float or double) is the type of scores, weights and accumulators. Outputs are not rounded
// to the problem's dtype.
template <class Real>
TiledResult tiled_forward(const Problem& problem, const Inputs& inputs,
                          const TiledOptions& options);

// Bytes that it holds besides the inputs, as a double: inputs and outputs in its own type, and the
// scores of one tile for each core.
double tiled_bytes(const Problem& problem, TileShape tile);

extern template TiledResult tiled_forward<float>(const Problem&, const Inputs&,
                                                 const TiledOptions&);
extern template TiledResult tiled_forward<double>(const Problem&, const Inputs&,
                                                  const TiledOptions&);

}  // namespace swa
