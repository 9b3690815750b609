#include "reference/oracle.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>

#include "reference/row_blocks.hpp"

namespace swa {
namespace {

using Vector = Eigen::Map<const Eigen::VectorXd>;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Block = Eigen::Map<const Matrix>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Index kBlockRows = 64;
constexpr Index kMaxDensePairs = Index{1} << 26;

Oracle empty_oracle(const Problem& p) {
  const Shape rows = p.query_shape(1), outputs = p.query_shape(p.value_dim());
  Oracle oracle{{Tensor<double>(outputs), Tensor<double>(rows, -kInfinity)},
                Tensor<double>(outputs),
                std::vector<RowFacts>(static_cast<std::size_t>(rows.size()))};
  for (const Sequence& s : sequences(p)) {
    const Index end = p.layout == Layout::packed ? s.mask.n_q : rows.tokens;
    for (Index h = 0; h < p.heads_q; ++h) {
      for (Index row = s.mask.n_q; row < end; ++row) {
        oracle.row_facts(s.batch, h, row).padding = true;
      }
    }
  }
  return oracle;
}

double capped(double score, double softcap) {
  return softcap > 0 ? softcap * std::tanh(score / softcap) : score;
}

// The sink logit of a head, -inf where there is none: it then adds exp(-inf) = 0.
double sink_logit(const Inputs& inputs, Index head) {
  return inputs.sink_logits.empty() ? -kInfinity
                                    : inputs.sink_logits[static_cast<std::size_t>(head)];
}

void dense_row(const Problem& p, const Inputs& in, const Sequence& s, Index h, Index row,
               Oracle& result) {
  const double scale = p.score_scale(), sink = sink_logit(in, h);
  const Index at = s.q_row + row;
  const Vector q(in.q.row(s.batch, h, at), p.head_dim);
  const double q_norm = q.norm();
  const Index kv_head = h / p.group();

  std::vector<std::pair<Index, double>> scores;  // of the visible keys
  double highest = sink;
  RowFacts& facts = result.row_facts(s.batch, h, at);
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
  if (highest == -kInfinity) return;  // nothing visible: output 0, lse -inf

  Eigen::Map<Eigen::VectorXd> out(result.out.row(s.batch, h, at), p.value_dim());
  Eigen::Map<Eigen::VectorXd> abs_output(result.abs_output.row(s.batch, h, at), p.value_dim());
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
  result.lse.row(s.batch, h, at)[0] = highest + std::log(total);
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

void band_block(const Problem& p, const Inputs& in, const Sequence& s, Index h, KeyRange rows,
                Oracle& result) {
  const Mask& mask = s.mask;
  const BlockKeys keys(mask, rows);
  const double scale = p.score_scale(), sink = sink_logit(in, h);
  const Index b = s.batch, kv_head = h / p.group();
  const auto block_of = [&](const Tensor<double>& tensor, Index first, Index count) {
    return Block(count > 0 ? tensor.row(b, kv_head, s.k_row + first) : nullptr, count,
                 tensor.shape.dim);
  };
  const Block k_sinks = block_of(in.k, 0, keys.sinks());
  const Block k_band = block_of(in.k, keys.band_begin_key(), keys.band_size());
  const Block v_sinks = block_of(in.v, 0, keys.sinks());
  const Block v_band = block_of(in.v, keys.band_begin_key(), keys.band_size());
  const Block q(in.q.row(b, h, s.q_row + rows.begin), rows.size(), p.head_dim);

  Matrix scores(rows.size(), keys.size());
  scores.leftCols(keys.sinks()).noalias() = scale * q * k_sinks.transpose();
  scores.rightCols(keys.band_size()).noalias() = scale * q * k_band.transpose();
  Eigen::VectorXd k_norms(keys.size()), v_largest(keys.size());
  k_norms << k_sinks.rowwise().norm(), k_band.rowwise().norm();
  for (Index c = 0; c < keys.size(); ++c) {
    v_largest(c) =
        Vector(in.v.row(b, kv_head, s.k_row + keys.key(c)), p.value_dim()).cwiseAbs().maxCoeff();
  }

  Matrix weights = Matrix::Zero(rows.size(), keys.size());
  for (Index r = 0; r < rows.size(); ++r) {
    const Index row = rows.begin + r;
    keys.check_edges(mask, row);
    double highest = sink;
    RowFacts& facts = result.row_facts(b, h, s.q_row + row);
    if (!std::isinf(sink)) facts.score_bound = std::abs(sink);
    const double q_norm = q.row(r).norm();
    for (Index c = 0; c < keys.size(); ++c) {
      if (!sees(mask, row, keys.key(c))) {
        scores(r, c) = -kInfinity;
        continue;
      }
      scores(r, c) = capped(scores(r, c), p.softcap);
      highest = std::max(highest, scores(r, c));
      ++facts.keys;
      facts.score_bound = std::max(facts.score_bound, std::abs(scale) * q_norm * k_norms(c));
      facts.largest_v = std::max(facts.largest_v, v_largest(c));
    }
    if (highest == -kInfinity) continue;
    double total = std::exp(sink - highest);
    for (Index c = 0; c < keys.size(); ++c) {
      if (scores(r, c) == -kInfinity) continue;
      weights(r, c) = std::exp(scores(r, c) - highest);
      total += weights(r, c);
    }
    weights.row(r) /= total;
    facts.denominator = total;
    result.lse.row(b, h, s.q_row + row)[0] = highest + std::log(total);
  }
  const Index first = s.q_row + rows.begin;
  Eigen::Map<Matrix> out(result.out.row(b, h, first), rows.size(), p.value_dim());
  Eigen::Map<Matrix> abs_output(result.abs_output.row(b, h, first), rows.size(), p.value_dim());
  const auto w_sinks = weights.leftCols(keys.sinks());
  const auto w_band = weights.rightCols(keys.band_size());
  out.noalias() = w_sinks * v_sinks;
  out.noalias() += w_band * v_band;
  abs_output.noalias() = w_sinks * v_sinks.cwiseAbs();
  abs_output.noalias() += w_band * v_band.cwiseAbs();
}

// As a double, which no size overflows.
double size_of(const Shape& s) {
  return static_cast<double>(s.batch) * static_cast<double>(s.heads) *
         static_cast<double>(s.tokens) * static_cast<double>(s.dim);
}

double pairs(const Problem& p) {
  double total = 0;
  for (const SharedMask& s : shared_masks(p)) {
    total += static_cast<double>(s.mask.n_q) * static_cast<double>(s.mask.n_k) *
             static_cast<double>(s.sequences);
  }
  return total * static_cast<double>(p.heads_q);
}

}  // namespace

Oracle dense_oracle(const Problem& p, const Inputs& inputs) {
  Oracle result = empty_oracle(p);
  for_each_row_block(p, kBlockRows, [&](const Sequence& s, Index h, KeyRange rows) {
    for (Index row = rows.begin; row < rows.end; ++row) dense_row(p, inputs, s, h, row, result);
  });
  return result;
}

Oracle band_oracle(const Problem& p, const Inputs& inputs) {
  Oracle result = empty_oracle(p);
  for_each_row_block(p, kBlockRows, [&](const Sequence& s, Index h, KeyRange rows) {
    band_block(p, inputs, s, h, rows, result);
  });
  return result;
}

Oracle oracle(const Problem& p, const Inputs& inputs) {
  return pairs(p) <= static_cast<double>(kMaxDensePairs) ? dense_oracle(p, inputs)
                                                         : band_oracle(p, inputs);
}

double oracle_bytes(const Problem& p) {
  const double d = static_cast<double>(p.head_dim), dv = static_cast<double>(p.value_dim());
  const double query_rows = size_of(p.query_shape(1)), key_rows = size_of(p.key_shape(1));
  const double tensors = query_rows * (d + 2 * dv + 8) + key_rows * (d + dv);
  // A block's keys reach from its first row's left bound to its last row's right bound.
  double width = 0;
  for (const SharedMask& s : shared_masks(p)) {
    if (s.mask.n_q == 0) continue;
    const Index at = larger(0, s.mask.n_q - kBlockRows);
    width = std::max(width, static_cast<double>(BlockKeys(s.mask, {at, s.mask.n_q}).size()));
  }
  const double scratch = 2 * static_cast<double>(kBlockRows) * width +
                         width * (d + dv);  // Eigen packs |v| and may pack k
  const double threads = std::max(1U, std::thread::hardware_concurrency());
  return 8 * (tensors + scratch * threads);
}

}  // namespace swa
