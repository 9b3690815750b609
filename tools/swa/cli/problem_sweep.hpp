// The options that state the problems of verify and bench: every list of a sweep, and the scores.
#pragma once

#include <vector>

#include "cli/problem_options.hpp"
#include "problem/cases.hpp"
#include "problem/sweep.hpp"

namespace swa::cli {

// The lists make every combination; the rest holds for all of them.
struct ProblemOptions {
  SizeOptions sizes;
  MaskOptions masks;
  CacheOptions caches;
  const Option &batch, &heads_q, &heads_kv, &head_dim, &head_dim_v, &dtype, &softcap, &scale,
      &sink_logits, &seed, &inputs, &stream;

  explicit ProblemOptions(Command& command);

  bool given() const { return says_what() || seed.given(); }
  // Whether another option than the seed was given.
  bool says_what() const;
  // The problems, without names. Throws where they have no size.
  std::vector<Case> read() const;
};

}  // namespace swa::cli
