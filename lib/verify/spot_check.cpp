#include "verify/spot_check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "verify/plan.hpp"
#include "verify/probe.hpp"
#include "verify/tolerance.hpp"

namespace swa {
namespace {

constexpr Index kRows = 16;  // of each entry and head

void require_equal(const OracleRow& expected, const Oracle& oracle, const Tolerance& bounds,
                   Index batch, Index head, Index row) {
  const RowFacts& facts = oracle.row_facts(batch, head, row);
  const double lse = oracle.lse.row(batch, head, row)[0];
  bool right = facts.keys == expected.facts.keys &&
               (lse == expected.lse ||
                std::abs(lse - expected.lse) <= bounds.of_lse(expected.facts, expected.lse));
  for (std::size_t d = 0; right && d < expected.out.size(); ++d) {
    const double got = oracle.out.row(batch, head, row)[d];
    const double bound = bounds.of_output(expected.facts, expected.abs_output[d], expected.out[d]);
    right = std::abs(got - expected.out[d]) <= bound;
  }
  if (right) return;
  throw std::logic_error(
      fmt::format("the two oracles differ in row {} of batch {}, head {}", row, batch, head));
}

}  // namespace

Index check_sampled_rows(const Problem& p, const Inputs& inputs, const Oracle& oracle) {
  Problem in_double = p;
  in_double.dtype = Dtype::fp64;
  const Tolerance bounds(in_double, {1, kMaxIndex});
  const std::vector<Sequence> all = sequences(p);
  Index checked = 0;
  for (Index batch = 0; batch < oracle.out.shape.batch; ++batch) {
    for (const Index row : sampled_rows(p, kRows)) {
      const Sequence* const sequence = sequence_of_row(all, batch, row);
      if (sequence == nullptr) continue;
      for (const Index head : {Index{0}, p.heads_q - 1}) {
        require_equal(dense_oracle_row(p, inputs, *sequence, head, row - sequence->q_row), oracle,
                      bounds, batch, head, row);
        ++checked;
      }
    }
  }
  return checked;
}

}  // namespace swa
