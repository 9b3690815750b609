#include "reference/tiled.hpp"

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>

#include "reference/row_blocks.hpp"
#include "reference/row_math.hpp"

namespace swa {
namespace {

using SinkLogit = TiledSteps::SinkLogit;
using EmptyRow = TiledSteps::EmptyRow;

// What a query tile of one head reads. q: its first row; k, v: key 0 of the sequence, n_k of them.
template <class Real>
struct Operands {
  const Real *q = nullptr, *k = nullptr, *v = nullptr;
  const double* sink_logit = nullptr;
  Index n_k = 0;
};

template <class Real>
class QueryTile {
 public:
  // seen: the keys of each row.
  QueryTile(const Problem& p, const TiledOptions& options, const Operands<Real>& from,
            const std::vector<KeyRuns>& seen)
      : p_(p),
        options_(options),
        from_(from),
        seen_(seen),
        rows_(static_cast<Index>(seen.size())),
        max_(Column::Constant(rows_, -kInfinity)),
        sum_(Column::Zero(rows_)),
        acc_(Matrix::Zero(rows_, p.value_dim())) {}

  // One key tile: scores, mask where it is needed, online softmax.
  void visit(KeyRange keys, bool needs_mask) {
    score(keys);
    if (!options_.steps.softcap_after_mask) cap();
    if (options_.steps.sink_logit == SinkLogit::on_first_key && keys.begin == 0) add_sink_score();
    if (needs_mask) hide_unseen(keys);
    if (options_.steps.softcap_after_mask) cap();
    for (Index r = 0; r < rows_; ++r) {
      const Real highest = std::max(max_(r), scores_.row(r).maxCoeff());
      const Real shift = options_.guard && highest == -kInfinity ? Real{0} : highest;
      Real* const weights = scores_.row(r).data();
      exp_shifted(weights, keys.size(), shift);
      const Real rescale = std::exp(max_(r) - shift);
      if (rescale != 1) acc_.row(r) *= rescale;
      sum_(r) = sum_(r) * rescale + sum_of(weights, keys.size());
      max_(r) = highest;
    }
    if (needs_mask && lose_unseen_values(keys)) {
      acc_.noalias() += scores_ * seen_values_;
    } else {
      acc_.noalias() += scores_ * values(keys);
    }
  }

  // out [rows, head_dim_v], lse [rows]. A sink logit joins the denominator and adds no value.
  void finish(double* out, double* lse) {
    const bool sink_joins =
        from_.sink_logit != nullptr && options_.steps.sink_logit != SinkLogit::on_first_key;
    for (Index r = 0; r < rows_; ++r) {
      Real highest = max_(r), sum = sum_(r), rescale = 1;
      if (sink_joins) {
        const Real sink = static_cast<Real>(*from_.sink_logit);
        highest = std::max(highest, sink);
        rescale = std::exp(max_(r) - highest);
        const Real sink_weight = std::exp(sink - highest);
        sum = sum * rescale + sink_weight;
        acc_.row(r) *= rescale;
        if (options_.steps.sink_logit == SinkLogit::with_first_value && from_.n_k > 0) {
          acc_.row(r) += sink_weight * values({0, 1}).row(0);
        }
      }
      double* const row = out + r * p_.value_dim();
      if (sum == 0) {
        finish_empty(row, lse + r);
        continue;
      }
      for (Index d = 0; d < p_.value_dim(); ++d) row[d] = static_cast<double>(acc_(r, d) / sum);
      lse[r] = static_cast<double>(highest + std::log(sum));
    }
  }

 private:
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Column = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  using Block = Eigen::Map<const Matrix>;
  static constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

  Block values(KeyRange keys) const {
    return Block(from_.v + keys.begin * p_.value_dim(), keys.size(), p_.value_dim());
  }

  // Whether the tile holds keys that none of its rows sees. A weight of 0 times whatever lies
  // there, NaN perhaps, must not reach the output: seen_values_ has zeros for them.
  bool lose_unseen_values(KeyRange keys) {
    const TiledSteps& steps = options_.steps;
    if (!std::isinf(steps.hidden_score) || steps.softcap_after_mask) return false;
    std::vector<bool> seen(static_cast<std::size_t>(keys.size()));
    for (const KeyRuns& runs : seen_) {
      for (const KeyRun& run : runs) {
        const Index begin = clamp(run.begin, keys.begin, keys.end) - keys.begin;
        const Index end = clamp(run.end, keys.begin, keys.end) - keys.begin;
        std::fill(seen.begin() + begin, seen.begin() + larger(begin, end), true);
      }
    }
    if (std::find(seen.begin(), seen.end(), false) == seen.end()) return false;
    seen_values_ = values(keys);
    for (Index i = 0; i < keys.size(); ++i) {
      if (!seen[static_cast<std::size_t>(i)]) seen_values_.row(i).setZero();
    }
    return true;
  }

  void score(KeyRange keys) {
    const Block Q(from_.q, rows_, p_.head_dim);
    const Block K(from_.k + keys.begin * p_.head_dim, keys.size(), p_.head_dim);
    const Real scale = static_cast<Real>(p_.score_scale());
    if (!options_.steps.products_in_fp16) {
      scores_.noalias() = scale * Q * K.transpose();
      return;
    }
    scores_.noalias() = Q * K.transpose();
    scores_ = scores_.unaryExpr([scale](Real s) {
      return scale * static_cast<Real>(round_to(Dtype::fp16, static_cast<double>(s)));
    });
  }

  void cap() {
    if (!(p_.softcap > 0)) return;
    const Real cap = static_cast<Real>(p_.softcap);
    scores_ = scores_.unaryExpr([cap](Real s) { return cap * std::tanh(s / cap); });
  }

  void add_sink_score() {
    if (from_.sink_logit != nullptr) {
      scores_.col(0).array() += static_cast<Real>(*from_.sink_logit);
    }
  }

  void hide_unseen(KeyRange keys) {
    const auto segment = [&](Index r, Index begin, Index end) {  // keys, clipped to the tile
      begin = clamp(begin, keys.begin, keys.end);
      end = clamp(end, begin, keys.end);
      return scores_.row(r).segment(begin - keys.begin, end - begin);
    };
    const Real hidden = static_cast<Real>(options_.steps.hidden_score);
    for (Index r = 0; r < rows_; ++r) {
      Index shown = keys.begin;
      for (const KeyRun& run : seen_[static_cast<std::size_t>(r)]) {
        segment(r, shown, run.begin).setConstant(hidden);
        shown = run.end;
        // A weight that is counted m times is exp(score + ln m).
        if (run.times > 1) {
          segment(r, run.begin, run.end).array() += std::log(static_cast<Real>(run.times));
        }
      }
      segment(r, shown, keys.end).setConstant(hidden);
    }
  }

  void finish_empty(double* out, double* lse) const {
    const EmptyRow what = options_.steps.empty_row;
    if (what == EmptyRow::skipped) return;
    const bool nan = what == EmptyRow::nan;
    std::fill_n(out, p_.value_dim(), nan ? std::numeric_limits<double>::quiet_NaN() : 0);
    *lse = what == EmptyRow::zero ? -std::numeric_limits<double>::infinity() : out[0];
    if (what != EmptyRow::mean || from_.n_k == 0) return;
    Eigen::Map<Eigen::RowVectorXd>(out, p_.value_dim()) =
        values({0, from_.n_k}).colwise().mean().template cast<double>();
    *lse = 0;
  }

  const Problem& p_;
  const TiledOptions& options_;
  Operands<Real> from_;
  const std::vector<KeyRuns>& seen_;
  Index rows_;
  Column max_, sum_;
  Matrix acc_, scores_, seen_values_;
};

// Key tiles of a query tile, and whether each needs a mask.
struct Visit {
  Index tile = 0;
  TileClass kind = TileClass::partial;
};

std::vector<Visit> right_visits(const Mask& mask, const TiledOptions& options, Index query_tile) {
  std::vector<Visit> visits;
  const TileWalk walk = tiles_of_query_tile(mask, options.tile, query_tile);
  for (const Index t : visit_order(walk, options.walk)) {
    visits.push_back({t, classify(mask, options.tile, query_tile, t)});
  }
  return visits;
}

// All tiles that hold a key of any of the rows, from left to right.
std::vector<Visit> visits_of(const std::vector<KeyRuns>& seen, Index BN) {
  std::set<Index> tiles;
  for (const KeyRuns& runs : seen) {
    for (const KeyRun& run : runs) {
      for (Index t = run.begin / BN; t * BN < run.end; ++t) tiles.insert(t);
    }
  }
  std::vector<Visit> visits;
  for (const Index t : tiles) visits.push_back({t, TileClass::partial});
  return visits;
}

}  // namespace

std::vector<Index> visit_order(const TileWalk& walk, Walk order) {
  std::vector<Index> tiles;
  tiles.reserve(static_cast<std::size_t>(walk.size()));
  for (Index i = 0; i < walk.band.size(); ++i) {
    tiles.push_back(order == Walk::forward ? walk.band.begin + i : walk.band.end - 1 - i);
  }
  for (Index t = walk.sinks.begin; t < walk.sinks.end; ++t) tiles.push_back(t);
  return tiles;
}

template <class Real>
TiledResult tiled_forward(const Problem& p, const Inputs& inputs, const TiledOptions& options) {
  const TileShape tile = options.tile;
  const Tensor<Real> q = cast<Real>(inputs.q), k = cast<Real>(inputs.k), v = cast<Real>(inputs.v);
  TiledResult result;
  static_cast<Attention&>(result) = poisoned_outputs(p);

  std::mutex counts_guard;
  for_each_row_block(p, tile.BM, [&](const Sequence& s, Index h, KeyRange rows) {
    const TiledSteps& steps = options.steps;
    const Index query_tile = rows.begin / tile.BM, row = s.q_row + rows.begin;
    std::vector<KeyRuns> seen;
    for (Index r = rows.begin; r < rows.end; ++r) {
      seen.push_back(steps.keys ? steps.keys(s, h, r) : runs_of(keys_of_row(s.mask, r)));
    }
    const KvSource source = source_of(steps, p, s, h);
    Operands<Real> from{q.row(s.batch, h, row), k.row(source.batch, source.head, source.first_row),
                        v.row(source.batch, source.head, source.first_row), nullptr, s.mask.n_k};
    if (!inputs.sink_logits.empty()) {
      from.sink_logit = &inputs.sink_logits[static_cast<std::size_t>(h)];
    }
    QueryTile<Real> state(p, options, from, seen);
    Index full = 0, partial = 0, empty = 0;
    for (const Visit& visit :
         steps.keys ? visits_of(seen, tile.BN) : right_visits(s.mask, options, query_tile)) {
      full += visit.kind == TileClass::full;
      partial += visit.kind == TileClass::partial;
      empty += visit.kind == TileClass::empty;
      state.visit(keys_of_tile(s.mask, tile, visit.tile), visit.kind != TileClass::full);
    }
    state.finish(result.out.row(s.batch, h, row), result.lse.row(s.batch, h, row));
    const std::lock_guard lock(counts_guard);
    result.full += full;
    result.partial += partial;
    result.empty += empty;
  });
  return result;
}

double tiled_bytes(const Problem& p, TileShape tile) {
  const double d = static_cast<double>(p.head_dim), dv = static_cast<double>(p.value_dim());
  const double query_rows = size_of(p.query_shape(1)), key_rows = size_of(p.key_shape(1));
  const double rows = static_cast<double>(smaller(tile.BM, p.n_q));
  const double columns = static_cast<double>(smaller(tile.BN, p.n_k));
  const double cores = static_cast<double>(thread_count());
  return 8 * (query_rows * (d + dv + 1) + key_rows * (d + dv) + cores * rows * (columns + dv + 2));
}

template TiledResult tiled_forward<float>(const Problem&, const Inputs&, const TiledOptions&);
template TiledResult tiled_forward<double>(const Problem&, const Inputs&, const TiledOptions&);

}  // namespace swa
