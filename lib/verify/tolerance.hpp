// How far a correct kernel may be from the oracle, derived from the dtype, the shape and the data.
#pragma once

#include <string>

#include "problem/problem.hpp"
#include "reference/oracle.hpp"

namespace swa {

// The bound for one element of the output, to first order in the roundoffs:
//
//   |error| <= (2 (e + D u) + u_p) A + u_o |o| + s
//
//   u    unit roundoff of scores, weights and sums: 2^-24 in fp32; 2^-52 in fp64, where the oracle
//        computes in the same type and may be as wrong as the kernel
//   e    relative error of one weight before it is normalised: ((head_dim + 20) M + 132) u
//   M    Oracle::magnitude, the largest |score| that the row's norms allow
//   D    additions and rescalings that one sum passes through: min(keys, 256) + keys / 16 + 1, for
//        sums in tiles of 16 to 256 keys
//   u_p  unit roundoff of the weights where a kernel narrows them before the second product
//        (16-bit dtypes; otherwise 0)
//   A    Oracle::spread, sum of weight |v|
//   u_o  unit roundoff of the stored output;  s  half its smallest subnormal step
//
// docs/numerics.md derives each term.
class Tolerance {
 public:
  explicit Tolerance(const Problem& problem);

  double of_output(double magnitude, double spread, double output) const;
  // Whether the bound of a row of this magnitude is as wide as its outputs can be, so that passing
  // proves nothing: rounding alone may turn the weights over.
  bool is_vacuous(double magnitude) const { return relative(magnitude) >= 1; }
  // |error of lse| <= e + D u + u |lse|
  double of_lse(double magnitude, double lse) const;
  // One line with this problem's numbers in it.
  std::string formula() const;

 private:
  double score_error(double magnitude) const;
  double relative(double magnitude) const;  // what stands before A

  double work_, weights_, store_, smallest_step_;
  double depth_;
  double head_dim_;
};

}  // namespace swa
