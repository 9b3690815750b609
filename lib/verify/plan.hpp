// A kernel as it understands a problem: rightly, or with planted faults. The demos, the kill matrix
// and the diagnosis all run and predict kernels through this.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "mask/key_runs.hpp"
#include "problem/problem.hpp"
#include "reference/tiled.hpp"
#include "tiles/tiles.hpp"

namespace swa {

// The keys of one row, as a kernel with faults changes them, step by step. All keys are counted
// from the sequence's first.
struct PlannedRow {
  // What the steps may look at.
  const Mask& mask;  // of the sequence, mask edits applied
  TileShape tile;
  Index group = 1, head = 0, row = 0;

  // What they change: the band [begin, end), the sink tokens before it, further conditions, and
  // which keys count twice.
  KeyRange band;
  Index sinks = 0;  // keys [0, sinks) besides the band; none after the row's right bound
  std::function<bool(Index key)> only = {};
  std::function<bool(Index key)> twice = {};

  KeyRange rows_of_tile() const { return swa::rows_of_tile(mask, tile, row / tile.BM); }
  Index position() const { return mask.q_offset + row; }
};

struct Plan {
  Problem problem;  // as the kernel understands it; its tensors have the shapes of the real one
  TileShape tile;
  bool guard = true;
  TiledSteps steps = {};
  // In the order in which they apply.
  std::vector<std::function<void(Mask&)>> mask_edits = {};
  std::vector<std::function<void(PlannedRow&)>> row_edits = {};
  std::vector<std::function<void(const Problem&, Inputs&)>> input_edits = {};
  // Of the outputs, after the call.
  std::vector<std::function<void(const Problem&, Attention&)>> output_edits = {};
};

// The inputs as the kernel reads them.
Inputs inputs_of(const Plan& plan, const Inputs& inputs);

// Runs the tiled forward with the plan's faults: in double for fp64 and in float for every other
// dtype. Outputs are poisoned first and rounded to the dtype.
Attention run_plan(const Plan& plan, const Inputs& inputs);
// The same in double and not rounded.
Attention run_plan_exactly(const Plan& plan, const Inputs& inputs);
// Sum of weight |v| in place of the output.
Tensor<double> run_plan_on_abs_values(const Plan& plan, const Inputs& inputs);

// The sequence that a row of the output, of a batch entry, belongs to; null for padding.
const Sequence* sequence_of_row(const std::vector<Sequence>& all, Index batch, Index row);
// "row 3", or "batch 0, head 1, row 3" where the problem has several.
std::string describe_row(const Problem& problem, Index batch, Index head, Index row);

// The keys that a row of the output adds up, as rows of the tensor k: `row` counts the rows of the
// output tensor, padding included. Empty for a row of padding.
KeyRuns planned_keys(const Plan& plan, Index batch, Index head, Index row);

// The rows of k and v that a query head of a batch entry reads; first_row is that of `row`'s
// sequence.
KvSource planned_source(const Plan& plan, Index batch, Index head, Index row);

}  // namespace swa
