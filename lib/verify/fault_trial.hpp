// One kernel on one problem, row by row: how wrong is it, where, and what did the first wrong row
// see?
#pragma once

#include <array>
#include <optional>
#include <string>

#include "reference/oracle.hpp"
#include "verify/plan.hpp"
#include "verify/tolerance.hpp"

namespace swa {

struct FaultTrial {
  double error = 0;      // the largest |got - expected|, of the output or the lse, in units of its
                         // own bound; infinite where one is NaN or infinite and should not be
  Index rows = 0;        // of all heads, padding left out
  Index wrong_rows = 0;  // those with an element out of its bound
  std::optional<std::array<Index, 3>> first_wrong;  // batch, head, row
  bool same_bits = false;                           // as the right kernel

  // Rows for which the plan takes other keys, another head or another sequence than is right. Where
  // the plan changes nothing else, no other row may be wrong; `unforeseen` counts those that are.
  // Not known of a plan that changes something else too.
  std::optional<Index> other_keys;
  Index unforeseen = 0;

  bool shows() const { return wrong_rows > 0; }
};

// A problem with everything that does not depend on the kernel.
class TrialGround {
 public:
  TrialGround(const Problem& problem, TileShape tile);

  const Problem& problem() const { return problem_; }
  TileShape tile() const { return tile_; }
  const Inputs& inputs() const { return inputs_; }
  const Oracle& oracle() const { return oracle_; }
  SumRuns sums() const { return {tile_.BN, tile_.BN}; }

  // Whether every element of the output and the lse is within its bound.
  bool passes(const Attention& got) const;
  // `got` is what the plan computed.
  FaultTrial judge(const Plan& plan, const Attention& got) const;
  // What became of a row [batch, head, row], such as "row 48 sees keys 0..48, should see 1..48" or
  // "row 3 holds NaN in element 0, should hold 0.251".
  std::string describe(const Plan& plan, const Attention& got,
                       const std::array<Index, 3>& row) const;

 private:
  // In units of the bound; element head_dim_v is the lse.
  double error_of(const Attention& got, std::size_t row, Index element) const;

  Problem problem_;
  TileShape tile_;
  Inputs inputs_;
  Oracle oracle_;
  Tolerance tolerance_;
  Attention right_;  // of the kernel without faults
};

}  // namespace swa
