#include "reference/tiled.hpp"

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <mutex>

#include "reference/row_blocks.hpp"
#include "reference/row_math.hpp"

namespace swa {
namespace {

template <class Real>
class QueryTile {
 public:
  QueryTile(const Problem& p, const Mask& mask, const TiledOptions& options, KeyRange rows)
      : p_(p),
        options_(options),
        mask_(mask),
        rows_(rows),
        max_(Column::Constant(rows.size(), -kInfinity)),
        sum_(Column::Zero(rows.size())),
        acc_(Matrix::Zero(rows.size(), p.value_dim())) {}

  // One key tile: scores, mask where it is needed, online softmax.
  // q [rows, head_dim], k [keys, head_dim], v [keys, head_dim_v].
  void visit(const Real* q, const Real* k, const Real* v, KeyRange keys, bool needs_mask) {
    const Block Q(q, rows_.size(), p_.head_dim);
    const Block K(k, keys.size(), p_.head_dim), V(v, keys.size(), p_.value_dim());
    scores_.noalias() = static_cast<Real>(p_.score_scale()) * Q * K.transpose();
    if (p_.softcap > 0) {
      const Real cap = static_cast<Real>(p_.softcap);
      scores_ = scores_.unaryExpr([cap](Real s) { return cap * std::tanh(s / cap); });
    }
    if (needs_mask) hide_unseen(keys);
    for (Index r = 0; r < rows_.size(); ++r) {
      const Real highest = std::max(max_(r), scores_.row(r).maxCoeff());
      const Real shift = options_.guard && highest == -kInfinity ? Real{0} : highest;
      Real* const weights = scores_.row(r).data();
      exp_shifted(weights, keys.size(), shift);
      const Real rescale = std::exp(max_(r) - shift);
      if (rescale != 1) acc_.row(r) *= rescale;
      sum_(r) = sum_(r) * rescale + sum_of(weights, keys.size());
      max_(r) = highest;
    }
    acc_.noalias() += scores_ * V;
  }

  // out [rows, head_dim_v], lse [rows]. A sink logit joins the denominator and adds no value.
  void finish(const double* sink_logit, double* out, double* lse) {
    for (Index r = 0; r < rows_.size(); ++r) {
      Real highest = max_(r), sum = sum_(r), rescale = 1;
      if (sink_logit != nullptr) {
        const Real sink = static_cast<Real>(*sink_logit);
        highest = std::max(highest, sink);
        rescale = std::exp(max_(r) - highest);
        sum = sum * rescale + std::exp(sink - highest);
      }
      const bool saw_nothing = sum == 0;
      for (Index d = 0; d < p_.value_dim(); ++d) {
        out[r * p_.value_dim() + d] =
            saw_nothing ? 0 : static_cast<double>(acc_(r, d) * rescale / sum);
      }
      lse[r] = saw_nothing ? -std::numeric_limits<double>::infinity()
                           : static_cast<double>(highest + std::log(sum));
    }
  }

 private:
  using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Column = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
  using Block = Eigen::Map<const Matrix>;
  static constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

  void hide_unseen(KeyRange keys) {
    for (Index r = 0; r < rows_.size(); ++r) {
      const RowKeys seen = keys_of_row(mask_, rows_.begin + r);
      const auto hide = [&](Index begin, Index end) {  // keys [begin, end), clipped to the tile
        begin = clamp(begin, keys.begin, keys.end);
        end = clamp(end, begin, keys.end);
        scores_.row(r).segment(begin - keys.begin, end - begin).setConstant(-kInfinity);
      };
      hide(seen.sinks.end, seen.band.begin);
      hide(seen.band.end, mask_.n_k);
    }
  }

  const Problem& p_;
  const TiledOptions& options_;
  Mask mask_;
  KeyRange rows_;
  Column max_, sum_;
  Matrix acc_, scores_;
};

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
    const Index query_tile = rows.begin / tile.BM, kv_head = h / p.group();
    QueryTile<Real> state(p, s.mask, options, rows);
    Index full = 0, partial = 0, empty = 0;
    const TileWalk walk = tiles_of_query_tile(s.mask, tile, query_tile);
    for (const Index t : visit_order(walk, options.walk)) {
      const TileClass kind = classify(s.mask, tile, query_tile, t);
      full += kind == TileClass::full;
      partial += kind == TileClass::partial;
      empty += kind == TileClass::empty;
      const KeyRange keys = keys_of_tile(s.mask, tile, t);
      const Index first = s.k_row + keys.begin;
      state.visit(q.row(s.batch, h, s.q_row + rows.begin), k.row(s.batch, kv_head, first),
                  v.row(s.batch, kv_head, first), keys, kind != TileClass::full);
    }
    const double* sink =
        inputs.sink_logits.empty() ? nullptr : &inputs.sink_logits[static_cast<std::size_t>(h)];
    const Index row = s.q_row + rows.begin;
    state.finish(sink, result.out.row(s.batch, h, row), result.lse.row(s.batch, h, row));
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
