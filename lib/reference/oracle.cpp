#include "reference/oracle.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/oracle_parts.hpp"
#include "reference/row_blocks.hpp"

namespace swa {
namespace {

using Vector = Eigen::Map<const Eigen::VectorXd>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kMaxDensePairs = Index{1} << 26;

}  // namespace

Oracle empty_oracle(const Problem& p) {
  const Shape rows = p.query_shape(1), outputs = p.query_shape(p.value_dim());
  Oracle oracle{{Tensor<double>(outputs), Tensor<double>(rows, -kInfinity)},
                Tensor<double>(outputs),
                std::vector<RowFacts>(static_cast<std::size_t>(rows.size()))};
  if (p.layout == Layout::packed) return oracle;
  for (Index b = 0; b < p.batch; ++b) {
    for (Index h = 0; h < p.heads_q; ++h) {
      for (Index row = p.queries(b); row < p.n_q; ++row) {
        oracle.row_facts(b, h, row).padding = true;
      }
    }
  }
  return oracle;
}

double capped(double score, double softcap) {
  return softcap > 0 ? softcap * std::tanh(score / softcap) : score;
}

double sink_logit(const Inputs& inputs, Index head) {
  return inputs.sink_logits.empty() ? -kInfinity
                                    : inputs.sink_logits[static_cast<std::size_t>(head)];
}

OracleRow dense_oracle_row(const Problem& p, const Inputs& in, const Sequence& s, Index h,
                           Index row) {
  const double scale = p.score_scale(), sink = sink_logit(in, h);
  const Vector q(in.q.row(s.batch, h, s.q_row + row), p.head_dim);
  const double q_norm = q.norm();
  const Index kv_head = h / p.group();
  const auto dim = static_cast<std::size_t>(p.value_dim());
  OracleRow result{std::vector<double>(dim), std::vector<double>(dim)};

  std::vector<std::pair<Index, double>> scores;  // of the visible keys
  double highest = sink;
  RowFacts& facts = result.facts;
  if (!std::isinf(sink)) facts.score_bound = std::abs(sink);
  for (Index key = 0; key < s.mask.n_k; ++key) {
    if (!sees(s.mask, row, key)) continue;
    const Vector k(in.k.row(s.batch, kv_head, s.k_row + key), p.head_dim);
    const double score = capped(q.dot(k) * scale, p.softcap);
    scores.emplace_back(key, score);
    highest = std::max(highest, score);
    facts.score_bound = std::max(facts.score_bound, std::abs(scale) * q_norm * k.norm());
  }
  facts.keys = static_cast<Index>(scores.size());
  if (highest == -kInfinity) return result;  // nothing visible: output 0, lse -inf

  Eigen::Map<Eigen::VectorXd> out(result.out.data(), p.value_dim());
  Eigen::Map<Eigen::VectorXd> abs_output(result.abs_output.data(), p.value_dim());
  double total = std::exp(sink - highest);
  for (const auto& [key, score] : scores) {
    const double weight = std::exp(score - highest);
    const Vector v(in.v.row(s.batch, kv_head, s.k_row + key), p.value_dim());
    total += weight;
    out += weight * v;
    abs_output += weight * v.cwiseAbs();
    facts.largest_v = std::max(facts.largest_v, v.cwiseAbs().maxCoeff());
  }
  out /= total;
  abs_output /= total;
  facts.denominator = total;
  result.lse = highest + std::log(total);
  return result;
}

Oracle dense_oracle(const Problem& p, const Inputs& inputs) {
  Oracle result = empty_oracle(p);
  for_each_row_block(p, kBlockRows, [&](const Sequence& s, Index h, KeyRange rows) {
    for (Index row = rows.begin; row < rows.end; ++row) {
      const Index at = s.q_row + row;
      const OracleRow one = dense_oracle_row(p, inputs, s, h, row);
      std::copy(one.out.begin(), one.out.end(), result.out.row(s.batch, h, at));
      std::copy(one.abs_output.begin(), one.abs_output.end(),
                result.abs_output.row(s.batch, h, at));
      result.lse.row(s.batch, h, at)[0] = one.lse;
      result.row_facts(s.batch, h, at) = one.facts;
    }
  });
  return result;
}

double dense_oracle_pairs(const Problem& p) {
  double total = 0;
  for (const SharedMask& s : shared_masks(p)) {
    total += static_cast<double>(s.mask.n_q) * static_cast<double>(s.mask.n_k) *
             static_cast<double>(s.sequences);
  }
  return total * static_cast<double>(p.heads_q);
}

Oracle oracle(const Problem& p, const Inputs& inputs) {
  return dense_oracle_pairs(p) <= static_cast<double>(kMaxDensePairs) ? dense_oracle(p, inputs)
                                                                      : band_oracle(p, inputs);
}

}  // namespace swa
