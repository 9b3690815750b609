// How far a correct kernel may be from the oracle, derived from the dtype, the shape and the data.
#pragma once

#include <string>

#include "problem/problem.hpp"
#include "reference/oracle.hpp"

namespace swa {

// How a kernel adds up the terms of a row: in runs of this many keys, each run then added to the
// running sum. Where nothing is known of a kernel, runs of 16 to 256 keys are assumed.
struct SumRuns {
  Index shortest = 16, longest = 256;
  // Whether the denominator of the output adds up the weights as they are narrowed for the second
  // product. (That of lse never does.)
  bool narrowed = false;
};

// The bound for one element of the output, to first order in the roundoffs:
//
//   |error| <= (2 (e + D u) + u_p) A + n t V / l + (u_d + u_o) |o| + s
//
//   u    unit roundoff of scores, weights and sums: 2^-24 in fp32; 2^-52 in fp64, where the oracle
//        computes in the same type and may be as wrong as the kernel
//   e    relative error of one weight before it is normalised: ((head_dim + 20) M + 132) u
//   D    additions and rescalings that one sum passes through: min(n, longest run) + runs + 32
//   u_p  unit roundoff of the weights where a kernel narrows them before the second product
//        (tf32 and 16-bit dtypes; otherwise 0), and t what it loses of a weight too small to be
//        normal
//   u_d  u_p where the denominator adds up narrowed weights; otherwise 0
//   u_o  unit roundoff of the stored output; s what is lost of an output too small to be normal
//   n, M, V, l   RowFacts: keys, score_bound, largest_v, denominator
//   A    Oracle::abs_output, sum of weight |v|
//
// docs/numerics.md derives each term.
class Tolerance {
 public:
  explicit Tolerance(const Problem& problem, SumRuns runs = {});

  double of_output(const RowFacts& row, double abs_output, double output) const;
  // |error of lse| <= e + D u + u |lse|
  double of_lse(const RowFacts& row, double lse) const;
  // One line with this problem's numbers in it; n, M, V, l, A and o stay letters.
  std::string formula() const;

 private:
  double sum_error(const RowFacts& row) const;  // e + D u

  SumRuns runs_;
  double work_, weights_, weights_step_, store_, store_step_;
  double head_dim_;
};

}  // namespace swa
