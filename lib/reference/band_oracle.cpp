#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "reference/abs_values.hpp"
#include "reference/oracle.hpp"
#include "reference/oracle_parts.hpp"
#include "reference/row_blocks.hpp"
#include "reference/row_math.hpp"

namespace swa {
namespace {

using Vector = Eigen::Map<const Eigen::VectorXd>;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Block = Eigen::Map<const Matrix>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

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

void band_block(const Problem& p, const Inputs& in, const Sequence& s, Index h, KeyRange rows,
                Oracle& result) {
  const Mask& mask = s.mask;
  const BlockKeys keys(mask, rows);
  const double scale = p.score_scale(), sink = sink_logit(in, h);
  const Index b = s.batch, kv_head = h / p.group(), q_row = s.q_row + rows.begin;
  const auto block_of = [&](const Tensor<double>& tensor, Index first, Index count) {
    return Block(count > 0 ? tensor.row(b, kv_head, s.k_row + first) : nullptr, count,
                 tensor.shape.dim);
  };
  const Block k_sinks = block_of(in.k, 0, keys.sinks());
  const Block k_band = block_of(in.k, keys.band_begin_key(), keys.band_size());
  const Block v_sinks = block_of(in.v, 0, keys.sinks());
  const Block v_band = block_of(in.v, keys.band_begin_key(), keys.band_size());
  const Block q(in.q.row(b, h, q_row), rows.size(), p.head_dim);

  Matrix scores(rows.size(), keys.size());  // and then the weights
  scores.leftCols(keys.sinks()).noalias() = scale * q * k_sinks.transpose();
  scores.rightCols(keys.band_size()).noalias() = scale * q * k_band.transpose();
  Eigen::ArrayXd k_norms(keys.size()), v_largest(keys.size()), hidden(keys.size());
  k_norms << k_sinks.rowwise().norm(), k_band.rowwise().norm();
  for (Index c = 0; c < keys.size(); ++c) {
    const double* const v = in.v.row(b, kv_head, s.k_row + keys.key(c));
    v_largest(c) = Vector(v, p.value_dim()).cwiseAbs().maxCoeff();
  }

  Eigen::VectorXd totals = Eigen::VectorXd::Ones(rows.size());
  for (Index r = 0; r < rows.size(); ++r) {
    const Index row = rows.begin + r;
    keys.check_edges(mask, row);
    decide(mask, row, 0, keys.sinks(), hidden.data());
    decide(mask, row, keys.band_begin_key(), keys.band_size(), hidden.data() + keys.sinks());
    RowFacts& facts = result.row_facts(b, h, q_row + r);
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
    result.lse.row(b, h, q_row + r)[0] = highest + std::log(totals(r));
  }
  Eigen::Map<Matrix> out(result.out.row(b, h, q_row), rows.size(), p.value_dim());
  Eigen::Map<Matrix> abs_output(result.abs_output.row(b, h, q_row), rows.size(), p.value_dim());
  const auto w_sinks = scores.leftCols(keys.sinks());
  const auto w_band = scores.rightCols(keys.band_size());
  out.noalias() = w_sinks * v_sinks;
  out.noalias() += w_band * v_band;
  Matrix sums = Matrix::Zero(rows.size(), p.value_dim());
  add_abs_values(w_sinks, v_sinks, v_largest.data(), sums);
  add_abs_values(w_band, v_band, v_largest.data() + keys.sinks(), sums);
  for (Index r = 0; r < rows.size(); ++r) {
    if (result.row_facts(b, h, q_row + r).keys == 0) sums.row(r).setZero();
  }
  out.array().colwise() /= totals.array();
  abs_output = sums.array().colwise() / totals.array();
}

}  // namespace

Oracle band_oracle(const Problem& p, const Inputs& inputs) {
  Oracle result = empty_oracle(p);
  for_each_row_block(p, kBlockRows, [&](const Sequence& s, Index h, KeyRange rows) {
    band_block(p, inputs, s, h, rows, result);
  });
  return result;
}

double band_oracle_pairs(const Problem& p) {
  double count = 0;
  for (const SharedMask& s : shared_masks(p)) {
    double one = 0;
    for (Index begin = 0; begin < s.mask.n_q; begin += kBlockRows) {
      const KeyRange rows{begin, smaller(begin + kBlockRows, s.mask.n_q)};
      one += static_cast<double>(rows.size()) * static_cast<double>(BlockKeys(s.mask, rows).size());
    }
    count += one * static_cast<double>(s.sequences);
  }
  return count;
}

Index band_oracle_rows(const Problem& p) {
  return smaller(p.n_q, kBlockRows);
}

Index band_oracle_keys(const Problem& p) {
  Index most = 0;
  for (const SharedMask& s : shared_masks(p)) {
    const Window& window = s.mask.window;
    const Side left = window.reach_left(), right = window.reach_right();
    Index reach = s.mask.n_k;  // of one row
    if (window.kind == Window::Kind::chunked) reach = window.width;
    if (left.bounded && right.bounded) reach = left.reach + 1 + right.reach;
    const Index rows = smaller(s.mask.n_q, kBlockRows);
    most = larger(most, smaller(s.mask.n_k, s.mask.sinks + reach + rows - 1));
  }
  return most;
}

double oracle_bytes(const Problem& p) {
  const double d = static_cast<double>(p.head_dim), dv = static_cast<double>(p.value_dim());
  const double query_rows = size_of(p.query_shape(1)), key_rows = size_of(p.key_shape(1));
  const double facts = sizeof(RowFacts) / sizeof(double);
  const double tensors = query_rows * (d + 2 * dv + 1 + facts) + key_rows * (d + dv);
  const double width = static_cast<double>(band_oracle_keys(p));
  const double scratch = 2 * static_cast<double>(kBlockRows) * width +
                         width * (d + dv);  // Eigen packs |v| and may pack k
  return 8 * (tensors + scratch * static_cast<double>(thread_count()));
}

}  // namespace swa
