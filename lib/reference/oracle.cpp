#include "reference/oracle.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "reference/abs_values.hpp"
#include "reference/parallel.hpp"
#include "reference/row_math.hpp"

namespace swa {
namespace {

using Vector = Eigen::Map<const Eigen::VectorXd>;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Block = Eigen::Map<const Matrix>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kBlockRows = 64;
constexpr Index kMaxDensePairs = Index{1} << 26;

Oracle empty_oracle(const Problem& p) {
  const Shape rows{p.batch, p.heads_q, p.n_q, 1};
  const Shape outputs{p.batch, p.heads_q, p.n_q, p.head_dim};
  return {{Tensor<double>(outputs), Tensor<double>(rows, -kInfinity)},
          Tensor<double>(outputs),
          std::vector<RowFacts>(static_cast<std::size_t>(rows.size()))};
}

double capped(double score, double softcap) {
  return softcap > 0 ? softcap * std::tanh(score / softcap) : score;
}

// The sink logit of a head, -inf where there is none: it then adds exp(-inf) = 0.
double sink_logit(const Inputs& inputs, Index head) {
  return inputs.sink_logits.empty() ? -kInfinity
                                    : inputs.sink_logits[static_cast<std::size_t>(head)];
}

void dense_row(const Problem& p, const Inputs& in, Index b, Index h, Index row, Oracle& result) {
  const Mask mask = p.mask();
  const double scale = p.score_scale(), sink = sink_logit(in, h);
  const Vector q(in.q.row(b, h, row), p.head_dim);
  const double q_norm = q.norm();
  const Index kv_head = h / p.group();

  std::vector<std::pair<Index, double>> scores;  // of the visible keys
  double highest = sink;
  RowFacts& facts = result.row_facts(b, h, row);
  if (!std::isinf(sink)) facts.score_bound = std::abs(sink);
  for (Index key = 0; key < p.n_k; ++key) {
    if (!sees(mask, row, key)) continue;
    const Vector k(in.k.row(b, kv_head, key), p.head_dim);
    const double score = capped(q.dot(k) * scale, p.softcap);
    scores.emplace_back(key, score);
    highest = std::max(highest, score);
    facts.score_bound = std::max(facts.score_bound, std::abs(scale) * q_norm * k.norm());
  }
  facts.keys = static_cast<Index>(scores.size());
  if (highest == -kInfinity) return;  // nothing visible: output 0, lse -inf

  Eigen::Map<Eigen::VectorXd> out(result.out.row(b, h, row), p.head_dim);
  Eigen::Map<Eigen::VectorXd> abs_output(result.abs_output.row(b, h, row), p.head_dim);
  double total = std::exp(sink - highest);
  for (const auto& [key, score] : scores) {
    const double weight = std::exp(score - highest);
    const Vector v(in.v.row(b, kv_head, key), p.head_dim);
    total += weight;
    out += weight * v;
    abs_output += weight * v.cwiseAbs();
    facts.largest_v = std::max(facts.largest_v, v.cwiseAbs().maxCoeff());
  }
  out /= total;
  abs_output /= total;
  facts.denominator = total;
  result.lse.row(b, h, row)[0] = highest + std::log(total);
}

// The keys of one block of rows, side by side: sink tokens before the band, then the band.
class BlockKeys {
 public:
  BlockKeys(const Mask& mask, KeyRange rows)
      : begin_(band_begin(mask, rows.begin)),
        end_(band_end(mask, rows.end - 1)),
        sinks_(smaller(mask.sinks, begin_)) {}

  Index sinks() const { return sinks_; }
  Index band_begin_key() const { return begin_; }
  Index band_size() const { return end_ - begin_; }
  Index size() const { return sinks_ + end_ - begin_; }
  Index key(Index column) const { return column < sinks_ ? column : column - sinks_ + begin_; }

  // The two keys around the band must be out of sight, or the ranges that made it are wrong.
  void check_edges(const Mask& mask, Index row) const {
    const bool before = begin_ > sinks_ && sees(mask, row, begin_ - 1);
    if (before || sees(mask, row, end_)) throw std::logic_error("a key outside its block is seen");
  }

 private:
  Index begin_, end_, sinks_;
};

// hidden[i] = 0 where the row sees key first + i, and -inf where it does not.
void decide(const Mask& mask, Index row, Index first, Index count, double* hidden) {
  for (Index i = 0; i < count; ++i) hidden[i] = sees(mask, row, first + i) ? 0 : -kInfinity;
}

void cap_visible(const Eigen::ArrayXd& hidden, double softcap, double* row) {
  for (Index c = 0; c < hidden.size(); ++c) {
    if (hidden(c) == 0) row[c] = capped(row[c], softcap);
  }
}

void band_block(const Problem& p, const Mask& mask, const Inputs& in, Index b, Index h,
                KeyRange rows, Oracle& result) {
  const BlockKeys keys(mask, rows);
  const double scale = p.score_scale(), sink = sink_logit(in, h);
  const Index kv_head = h / p.group(), d = p.head_dim;
  const auto block_of = [&](const Tensor<double>& tensor, Index first, Index count) {
    return Block(count > 0 ? tensor.row(b, kv_head, first) : nullptr, count, d);
  };
  const Block k_sinks = block_of(in.k, 0, keys.sinks());
  const Block k_band = block_of(in.k, keys.band_begin_key(), keys.band_size());
  const Block v_sinks = block_of(in.v, 0, keys.sinks());
  const Block v_band = block_of(in.v, keys.band_begin_key(), keys.band_size());
  const Block q(in.q.row(b, h, rows.begin), rows.size(), d);

  Matrix scores(rows.size(), keys.size());  // and then the weights
  scores.leftCols(keys.sinks()).noalias() = scale * q * k_sinks.transpose();
  scores.rightCols(keys.band_size()).noalias() = scale * q * k_band.transpose();
  Eigen::ArrayXd k_norms(keys.size()), v_largest(keys.size()), hidden(keys.size());
  k_norms << k_sinks.rowwise().norm(), k_band.rowwise().norm();
  for (Index c = 0; c < keys.size(); ++c) {
    v_largest(c) = Vector(in.v.row(b, kv_head, keys.key(c)), d).cwiseAbs().maxCoeff();
  }

  Eigen::VectorXd totals = Eigen::VectorXd::Ones(rows.size());
  for (Index r = 0; r < rows.size(); ++r) {
    const Index row = rows.begin + r;
    keys.check_edges(mask, row);
    decide(mask, row, 0, keys.sinks(), hidden.data());
    decide(mask, row, keys.band_begin_key(), keys.band_size(), hidden.data() + keys.sinks());
    RowFacts& facts = result.row_facts(b, h, row);
    facts.keys = (hidden == 0).count();
    const auto largest = [&](const double* numbers, double least) {
      return largest_visible(numbers, hidden.data(), keys.size(), least);
    };
    facts.score_bound = std::abs(scale) * q.row(r).norm() * largest(k_norms.data(), 0);
    if (!std::isinf(sink)) facts.score_bound = std::max(facts.score_bound, std::abs(sink));
    facts.largest_v = largest(v_largest.data(), 0);

    double* const row_scores = scores.row(r).data();
    if (p.softcap > 0) cap_visible(hidden, p.softcap, row_scores);
    const double highest = largest(row_scores, sink);
    if (highest == -kInfinity) {  // nothing visible: output 0, lse -inf
      scores.row(r).setZero();
      continue;
    }
    totals(r) = std::exp(sink - highest) + weigh(hidden.data(), keys.size(), highest, row_scores);
    facts.denominator = totals(r);
    result.lse.row(b, h, row)[0] = highest + std::log(totals(r));
  }
  Eigen::Map<Matrix> out(result.out.row(b, h, rows.begin), rows.size(), d);
  Eigen::Map<Matrix> abs_output(result.abs_output.row(b, h, rows.begin), rows.size(), d);
  const auto w_sinks = scores.leftCols(keys.sinks());
  const auto w_band = scores.rightCols(keys.band_size());
  out.noalias() = w_sinks * v_sinks;
  out.noalias() += w_band * v_band;
  Matrix sums = Matrix::Zero(rows.size(), d);
  add_abs_values(w_sinks, v_sinks, v_largest.data(), sums);
  add_abs_values(w_band, v_band, v_largest.data() + keys.sinks(), sums);
  for (Index r = 0; r < rows.size(); ++r) {
    if (result.row_facts(b, h, rows.begin + r).keys == 0) sums.row(r).setZero();
  }
  out.array().colwise() /= totals.array();
  abs_output = sums.array().colwise() / totals.array();
}

// Calls body(b, h, rows) for each block of rows of each head.
template <class Body>
void for_each_block(const Problem& p, Body body) {
  const Index blocks = ceil_div(p.n_q, kBlockRows);
  parallel_for(p.batch * p.heads_q * blocks, [&](Index i) {
    const Index head = i / blocks, begin = i % blocks * kBlockRows;
    body(head / p.heads_q, head % p.heads_q, KeyRange{begin, smaller(begin + kBlockRows, p.n_q)});
  });
}

double pairs(const Problem& p) {
  return static_cast<double>(p.batch) * static_cast<double>(p.heads_q) *
         static_cast<double>(p.n_q) * static_cast<double>(p.n_k);
}

}  // namespace

Oracle dense_oracle(const Problem& p, const Inputs& inputs) {
  Oracle result = empty_oracle(p);
  for_each_block(p, [&](Index b, Index h, KeyRange rows) {
    for (Index row = rows.begin; row < rows.end; ++row) dense_row(p, inputs, b, h, row, result);
  });
  return result;
}

Oracle band_oracle(const Problem& p, const Inputs& inputs) {
  Oracle result = empty_oracle(p);
  const Mask mask = p.mask();
  for_each_block(
      p, [&](Index b, Index h, KeyRange rows) { band_block(p, mask, inputs, b, h, rows, result); });
  return result;
}

Oracle oracle(const Problem& p, const Inputs& inputs) {
  return pairs(p) <= static_cast<double>(kMaxDensePairs) ? dense_oracle(p, inputs)
                                                         : band_oracle(p, inputs);
}

double band_oracle_pairs(const Problem& p) {
  const Mask mask = p.mask();
  double count = 0;
  for (Index begin = 0; begin < p.n_q; begin += kBlockRows) {
    const KeyRange rows{begin, smaller(begin + kBlockRows, p.n_q)};
    count += static_cast<double>(rows.size()) * static_cast<double>(BlockKeys(mask, rows).size());
  }
  return count;
}

Index band_oracle_rows(const Problem& p) {
  return smaller(p.n_q, kBlockRows);
}

Index band_oracle_keys(const Problem& p) {
  // A block's keys reach from its first row's left bound to its last row's right bound.
  const Index rows = band_oracle_rows(p), at = p.n_q - rows;
  return BlockKeys(p.mask(), {at, at + rows}).size();
}

double oracle_bytes(const Problem& p) {
  const double batch = static_cast<double>(p.batch), d = static_cast<double>(p.head_dim);
  const double query_rows = batch * static_cast<double>(p.heads_q) * static_cast<double>(p.n_q);
  const double key_rows = batch * static_cast<double>(p.heads_kv) * static_cast<double>(p.n_k);
  const double tensors = query_rows * (3 * d + 2) + key_rows * 2 * d;
  const double width = static_cast<double>(band_oracle_keys(p));
  const double scratch = 2 * static_cast<double>(kBlockRows) * width +
                         2 * width * d;  // Eigen packs |v| and may pack k
  const double threads = static_cast<double>(thread_count());
  return 8 * (tensors + scratch * threads);
}

}  // namespace swa
