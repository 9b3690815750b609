// Is an output right? Where not, how wrong, and where.
#pragma once

#include <array>
#include <optional>

#include "problem/problem.hpp"
#include "reference/oracle.hpp"
#include "verify/tolerance.hpp"

namespace swa {

// What a comparison of one tensor found. Padding is not compared: it has no right value. An element
// is a mismatch where it is not within its own bound; NaN and infinities never are, except an
// infinity that the oracle holds in the same place.
struct Comparison {
  // The element with the largest error; where elements are out of bound, the one with the largest
  // error among those, NaN and infinities before all. So pass() is the same as error <= bound.
  std::array<Index, 4> worst{};  // batch, head, row, element
  double expected = 0, got = 0;  // there
  double error = 0, bound = 0;   // there; error is NaN where `got` is not finite
  double largest_bound = 0;      // anywhere: no correct output has a larger error than this
  Index nonfinite = 0;           // elements that are NaN or infinite and should not be
  Index mismatches = 0;          // elements out of bound, nonfinite ones included
  std::optional<std::array<Index, 4>> first_mismatch;
  Index elements = 0;
  // Elements for which 0 would pass although the row sees a key.
  Index vacuous = 0;

  bool pass() const { return mismatches == 0; }
};

// `out` against the oracle, each element within its own bound.
// Throws std::logic_error where the shapes differ: that is a defect of the caller.
Comparison compare_output(const Oracle& oracle, const Tolerance& tolerance,
                          const Tensor<double>& out);
// The same for the log-sum-exp of each row; -inf must stand where the oracle has it.
Comparison compare_lse(const Oracle& oracle, const Tolerance& tolerance, const Tensor<double>& lse);

// One row of the first batch and head.
struct RowComparison {
  double error = 0;   // the largest; NaN where an element is NaN
  double bound = 0;   // the largest
  bool right = true;  // every element within its own bound
};
// got: head_dim elements.
RowComparison compare_row(const Oracle& oracle, const Tolerance& tolerance, Index row,
                          const double* got);

// Whether both have the same elements, to the bit: NaN equals itself, and 0 not -0.
bool same_bits(const double* a, const double* b, Index count);
bool same_bits(const Tensor<double>& a, const Tensor<double>& b);

// The largest |a - b|; NaN where any is NaN. Both have the given number of elements.
double largest_difference(const double* a, const double* b, Index count);

}  // namespace swa
