// Decoding through a ring cache, beside attention over the full history.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "mask/window.hpp"

namespace swa {

struct RingTrialOptions {
  Index W = 8;          // window, and the ring's capacity
  Index steps = 40;     // tokens in all
  Index prefill = 0;    // of these, arrive in chunks before decoding starts
  Index chunk = 0;      // tokens of a chunk; 0: all of the prefill in one
  Index head_dim = 16;  // even
  std::uint64_t seed = 3;
};

// What the ring holds after a token was written.
struct RingSnapshot {
  Index step = 0, slot = 0;
  std::vector<Index> positions;  // by slot, filled slots only
};

// Keys are rotated by their position (RoPE) before they are cached, unless said otherwise.
// "Wrong" is beyond the bound of Tolerance for fp64.
struct RingTrial {
  std::vector<RingSnapshot> snapshots;
  double max_err_ring = 0;  // decode steps
  bool ring_is_right = true;
  double largest_bound = 0;  // of any element that was compared
  // The bug of decode: raw keys cached, rotated at read by slot instead of position.
  double max_err_slot_rope = 0;
  std::optional<Index> first_wrong_step;
  // Chunked prefill: keys written after the chunk's attention (right), or before it (the bug).
  double max_err_write_after = 0;
  Index wrong_rows_write_after = 0;
  Index wrong_rows_write_first = 0;
  Index blind_rows_write_first = 0;  // rows whose window the ring no longer holds at all
};

// Bytes that a trial holds at its peak, as a double.
double ring_trial_bytes(const RingTrialOptions& options);

// Snapshots are taken at the given steps, those inside a prefill chunk left out; on_step is told
// each step before it is taken. Throws UsageError where prefill > steps.
RingTrial run_ring_trial(const RingTrialOptions& options, const std::vector<Index>& snapshot_steps,
                         const std::function<void(Index step)>& on_step = {});

}  // namespace swa
