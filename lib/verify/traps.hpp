// The chapter's silent bugs as experiments: each runs the wrong thing beside the right one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "problem/problem.hpp"
#include "reference/oracle.hpp"
#include "reference/tiled.hpp"
#include "verify/kernel.hpp"

namespace swa {

// Rows of one head that become NaN without the guard, from tile and key ranges alone: those whose
// first visited tile holds none of their keys.
std::vector<bool> predicted_nan_rows(const Mask& mask, TileShape tile, Walk walk);

// The tiled forward in double, the chapter's Case 1 kernel, on one head.
struct NanTrial {
  Index nan_rows = 0;
  std::optional<Index> first_nan_row;
  Index predicted_nan_rows = 0;
  bool same_rows = false;            // found and predicted are the same rows
  double max_err_other_rows = 0;     // against the oracle
  bool others_within_bound = false;  // the other rows are right
  double largest_bound = 0;          // of any of their elements
};
// The problem has one head; dtype fp64.
NanTrial run_nan_trial(const Problem& problem, const Inputs& inputs, const Oracle& oracle,
                       const TiledOptions& options);

// Any kernel without the guard, on all heads of a problem whose sequences are of one length.
struct UnguardedTrial {
  Index rows = 0, nan_rows = 0;  // of all heads and sequences
  Index predicted_nan_rows = 0;
  bool same_rows = false;     // found and predicted are the same rows
  bool others_right = false;  // the other rows are, output and lse, within their bounds
};
// The kernel knows its tile for the problem. Throws what the kernel throws.
UnguardedTrial run_unguarded_trial(const Kernel& kernel, const Problem& problem,
                                   const Inputs& inputs, const Oracle& oracle);

// W passed as FlashAttention's left count: every query sees W + 1 keys.
struct OffByOneTrial {
  double max_err = 0;
  Index rows_affected = 0;       // rows that differ at all
  Index rows_predicted = 0;      // rows at position >= W: only they have one more key to see
  double max_err_converted = 0;  // the cure: left = W - 1
};
OffByOneTrial run_off_by_one_trial(Index n, Index head_dim, Index W, std::uint64_t seed);

// The last `chunk` queries of a sequence, masked as if they were its first.
struct AlignmentTrial {
  double max_err_top_left = 0, max_err_bottom_right = 0;
  Index keys_seen_top_left = 0, keys_seen_bottom_right = 0;  // by a decode step
};
AlignmentTrial run_alignment_trial(Index n, Index head_dim, Index W, Index chunk,
                                   std::uint64_t seed);

}  // namespace swa
