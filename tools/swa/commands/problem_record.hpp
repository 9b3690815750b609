// The cells that state a problem, the same in every command's records.
#pragma once

#include <vector>

#include "mask/count.hpp"
#include "problem/cases.hpp"
#include "problem/problem.hpp"
#include "report/report.hpp"

namespace swa::commands {

// Which of them people see: those that are not what is usual in at least one of the problems. The
// machine formats carry all.
struct ProblemColumns {
  bool band = false, chunked = false, sinks = false, anchor = false, lengths = false, batch = false,
       heads = false, head_dim = false, head_dim_v = false, cache = false, ring = false,
       paged = false, dtype = false, inputs = false, stream = false;

  explicit ProblemColumns(const std::vector<Problem>& problems);
};

// The mask for people, and the batch where lengths were given: "mask: ...". `indent` blanks follow
// the colon. FlashAttention's words are printed where they say the mask of each sequence.
report::Lines describe_problem(const Problem& problem, int indent);

// n_q, n_k, the lengths of sequences (null: all have n_q and n_k), window (null: none), left and
// right (null: no bound), chunk (null: none), sinks, anchor.
void add_mask(report::Record& record, const Problem& problem, const ProblemColumns& columns);
// What the mask leaves open: batch, heads, head_dim, the cache (capacity null where it is no ring,
// page null where it is not paged), dtype, the options of the scores, and the inputs.
void add_rest(report::Record& record, const Problem& problem, const ProblemColumns& columns);

// The name of a case, for people only where it has one.
void add_case(report::Record& record, const Case& one);
// All of add_mask() and add_rest(), for the machine formats only: people know the case by its name.
void hide_problem(report::Record& record, const Problem& problem);

// null for no window.
report::Value window_cell(const Window& window);
// A number, or its digits where it passes 2^63.
report::Value count_cell(Count count);
// A number, or its digits where it passes what JSON readers hold.
report::Value seed_cell(std::uint64_t seed);

}  // namespace swa::commands
