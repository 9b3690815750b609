// The figures that commands draw for --export: each an SVG document. All throw UsageError where the
// figure would not be readable.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "budget/layout.hpp"
#include "mask/key_runs.hpp"
#include "mask/window.hpp"
#include "model/model.hpp"
#include "problem/problem.hpp"
#include "tensor/dtype.hpp"
#include "tiles/counts.hpp"
#include "verify/ring_trial.hpp"

namespace swa::figures {

// Query tiles down, key tiles across; at most 256 x 256. Visited are the tiles that the rule
// visits, so that one of them may be EMPTY.
std::string tile_grid(const Mask& mask, TileShape tile, Rule rule = Rule::exact);

// Which query sees which key, pair by pair; at most 256 x 256.
std::string mask_picture(const Mask& mask);

// A row of one head as a probe recovered it; its keys are those of its sequence.
struct RecoveredRow {
  Index row = 0;
  bool known = true;  // its keys could be told
  KeyRuns keys;
};
// Specification and recovered mask in one grid; at most 256 x 256.
void require_readable_mask(const Mask& mask);
std::string recovered_mask(const Mask& mask, const std::vector<RecoveredRow>& rows,
                           const std::string& kernel);

// Share of the visited tiles that are PARTIAL, against W.
struct SharePoint {
  TileShape tile;
  Index W = 0;
  double share = 0;  // 0 to 1
};
std::string partial_share_chart(const std::vector<SharePoint>& points, const std::string& problem);

// The figure of a tile-map sweep: the grid, or the mask, of one problem and one tile shape; the
// PARTIAL share where problems differ in their causal window alone. Throws UsageError for others.
std::string tile_map(const std::vector<Problem>& problems, const std::vector<TileShape>& tiles,
                     Rule rule, bool mask);

// What five local layers, rings of W slots, and one global layer hold after a snapshot's step. W is
// at most 16, and the steps at most 48.
void require_readable_ring(Index W, Index steps);
std::string ring(Index W, const RingSnapshot& snapshot);

// KV bytes against context, log axes, at most four models under at most five layouts; with the
// logical layout alone, hybrid and all-global. Of the demand, the context is not read.
std::string kv_chart(const std::vector<Model>& models, const std::vector<ChosenLayout>& layouts,
                     std::vector<Index> contexts, const Demand& demand);

// Time of each kernel against n_q, or against the window: whichever the points differ in.
struct TimePoint {
  std::string kernel;
  Index n_q = 0, window = 0;  // n_k where there is no window
  double milliseconds = 0;
};
std::string time_chart(const std::vector<TimePoint>& points, const std::string& problem);

// Speed against FLOP per byte of memory traffic, log axes, below what memory and each unit allow.
// At most eight kernels and four units.
struct RooflinePoint {
  std::string kernel;
  double flops_per_byte = 0, tflops = 0;
};
struct RooflineRoofs {
  double bytes_per_s = 0;
  std::vector<std::pair<std::string, double>> flops_per_s;  // of each unit, by name
};
std::string roofline(const std::vector<RooflinePoint>& points, const RooflineRoofs& roofs,
                     const std::string& problem);

}  // namespace swa::figures
