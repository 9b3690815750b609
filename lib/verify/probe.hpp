// The probe: which keys does each row of a black box attend? No tolerance is involved.
//
// With q = 0 all scores of a row are equal, whatever k, scale and softcap are, so that every
// visible key has the same weight. A launch gives key i of its keys the value 2^c in element i of
// v, and 0 in all others: an element of the output that is not 0 names a key that its row attended.
// Sink logits are 0. docs/numerics.md says why this is exact in each dtype.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mask/key_runs.hpp"
#include "verify/kernel.hpp"

namespace swa {

// One row of one head, as the probe found it. Keys are rows of the tensor k, in the batch entry of
// the row, whichever kv head they were read from.
struct ProbedRow {
  Index batch = 0, head = 0, row = 0;  // of the output tensor
  KeyRuns keys = {};                   // `times`: weight relative to the row's smallest
  bool nan = false;                    // some element was NaN or infinite
  bool unwritten = false;              // some element was never written
  bool from_k = false;                 // some element came out of k
  bool uneven = false;                 // some weight is no multiple of the smallest
  double weight = 0;                   // of the key with the smallest, 0 where there are no keys
  std::optional<double> lse = {};      // where the kernel returns it

  // Whether no keys can be told of it.
  bool is_odd() const { return nan || unwritten || from_k; }
};

// (batch, head) of k and v that a query head reads, by the values that reached its outputs.
struct ProbedHead {
  Index batch = 0, head = 0;  // of the output
  std::vector<std::pair<Index, Index>> sources;
};

struct Probe {
  std::vector<ProbedRow> rows;    // the chosen rows of all batch entries and heads
  std::vector<ProbedHead> heads;  // empty where k has one batch entry and one head
  Index launches = 0;
  bool all_rows = true;
};

// The largest number of visible keys for which 2^c / n stays a normal number of the dtype.
double largest_probe(Dtype dtype);

// Launches that such a probe() makes at least; more where a row sees what it should not. Exactly as
// many where `every_key`.
Index probe_launches(const Problem& problem, const std::vector<Index>& rows,
                     bool every_key = false);

// Rows of the output to probe where all would take too long: the first, the last, those where the
// window begins to cut, and neighbours in the middle, which share most of their keys; ascending.
std::vector<Index> sampled_rows(const Problem& problem, Index count);

// Probes the given rows of all heads and batch entries; all rows where the list is empty. Throws
// UsageError where the problem has more keys than its dtype can tell apart, and what the kernel
// throws. Where `every_key`, keys that no row should see are told apart from the start, so that the
// inputs of the launches do not depend on what the kernel returns.
Probe probe(const Kernel& kernel, const Problem& problem, const std::vector<Index>& rows = {},
            bool every_key = false);

}  // namespace swa
