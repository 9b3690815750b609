#include "verify/ring_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cache/ring.hpp"
#include "error.hpp"
#include "problem/problem.hpp"
#include "reference/oracle.hpp"
#include "reference/rope.hpp"
#include "verify/tolerance.hpp"

namespace swa {
namespace {

// The sequence as one attention problem: the full history that the ring is held against.
Problem problem_of(const RingTrialOptions& o) {
  Problem p;
  p.n_q = p.n_k = o.steps;
  p.head_dim = o.head_dim;
  p.window = Window::causal(o.W);
  p.dtype = Dtype::fp64;
  p.seed = o.seed;
  return p;
}

// Keys and values that one query attends, in any order.
class Gathered {
 public:
  explicit Gathered(Index head_dim) : head_dim_(head_dim) {}

  void add(const double* k, const double* v) {
    k_.insert(k_.end(), k, k + head_dim_);
    v_.insert(v_.end(), v, v + head_dim_);
  }
  bool empty() const { return k_.empty(); }

  // Attention of one query over all of them; 0 where there are none.
  std::vector<double> attend(const double* q) const {
    if (empty()) return std::vector<double>(static_cast<std::size_t>(head_dim_));
    Problem problem;  // one query, no window: it sits at the last key and sees all
    problem.n_k = static_cast<Index>(k_.size()) / head_dim_;
    problem.head_dim = head_dim_;
    problem.dtype = Dtype::fp64;
    Inputs inputs;
    inputs.q = Tensor<double>({1, 1, 1, head_dim_});
    inputs.k.shape = inputs.v.shape = {1, 1, problem.n_k, head_dim_};
    std::copy_n(q, head_dim_, inputs.q.data.begin());
    inputs.k.data = k_;
    inputs.v.data = v_;
    return dense_oracle(problem, inputs).out.data;
  }

 private:
  Index head_dim_;
  std::vector<double> k_, v_;
};

class Trial {
 public:
  explicit Trial(const RingTrialOptions& options)
      : o_(options),
        problem_(problem_of(options)),
        tolerance_(problem_),
        raw_(make_inputs(problem_)) {
    rotated_ = raw_;
    for (Index t = 0; t < o_.steps; ++t) {
      rotate(row(rotated_.q, t), static_cast<double>(t));
      rotate(row(rotated_.k, t), static_cast<double>(t));
    }
    reference_ = oracle(problem_, rotated_);
  }

  RingTrial run(const std::vector<Index>& snapshot_steps) {
    RingCache ring(o_.W, o_.head_dim), raw_ring(o_.W, o_.head_dim);
    const Index chunk = o_.chunk > 0 ? o_.chunk : o_.prefill;
    for (Index begin = 0; begin < o_.prefill; begin += chunk) {
      prefill(ring, {begin, smaller(begin + chunk, o_.prefill)});
    }
    for (Index t = 0; t < o_.prefill; ++t) {
      raw_ring.write(t, row(raw_.k, t).data(), row(raw_.v, t).data());
      snapshot_prefilled(t, snapshot_steps);
    }
    for (Index t = o_.prefill; t < o_.steps; ++t) {
      decode(ring, raw_ring, t);
      if (contains(snapshot_steps, t)) take_snapshot(ring, t);
    }
    return result_;
  }

 private:
  std::span<double> row(Tensor<double>& tensor, Index t) const {
    return {tensor.row(0, 0, t), static_cast<std::size_t>(o_.head_dim)};
  }

  static bool contains(const std::vector<Index>& values, Index value) {
    return std::find(values.begin(), values.end(), value) != values.end();
  }

  // Largest error of one row's output; `right` says whether every element is within its bound.
  double error_of(Index t, const std::vector<double>& out, bool& right) {
    double largest = 0;
    right = true;
    for (Index d = 0; d < o_.head_dim; ++d) {
      const double expected = reference_.out.row(0, 0, t)[d];
      const double error = std::abs(out[static_cast<std::size_t>(d)] - expected);
      const double bound = tolerance_.of_output(reference_.magnitude.row(0, 0, t)[0],
                                                reference_.spread.row(0, 0, t)[d], expected);
      largest = std::max(largest, error);
      result_.largest_bound = std::max(result_.largest_bound, bound);
      right = right && error <= bound;
    }
    return largest;
  }

  // The keys of `ring` that a query at position t may see.
  void gather_window(const RingCache& ring, Index t, Gathered& keys) const {
    for (Index slot = 0; slot < ring.capacity(); ++slot) {
      const Index position = ring.owners()[static_cast<std::size_t>(slot)];
      if (position == RingCache::kEmpty || position > t || position <= t - o_.W) continue;
      keys.add(ring.k(slot), ring.v(slot));
    }
  }

  void prefill(RingCache& ring, KeyRange chunk) {
    RingCache written_first = ring;
    for (Index t = chunk.begin; t < chunk.end; ++t) {
      written_first.write(t, row(rotated_.k, t).data(), row(rotated_.v, t).data());
    }
    for (Index t = chunk.begin; t < chunk.end; ++t) {
      const double* q = row(rotated_.q, t).data();
      bool right = false;

      Gathered after(o_.head_dim);  // the ring as it was, and the chunk's own keys
      gather_window(ring, t, after);
      for (Index k = larger(chunk.begin, t - o_.W + 1); k <= t; ++k) {
        after.add(row(rotated_.k, k).data(), row(rotated_.v, k).data());
      }
      result_.max_err_write_after =
          std::max(result_.max_err_write_after, error_of(t, after.attend(q), right));
      result_.wrong_rows_write_after += !right;

      Gathered first(o_.head_dim);
      gather_window(written_first, t, first);
      error_of(t, first.attend(q), right);
      result_.wrong_rows_write_first += !right;
      result_.blind_rows_write_first += first.empty();
    }
    ring = written_first;  // the same ring either way, once the chunk is done
  }

  void decode(RingCache& ring, RingCache& raw_ring, Index t) {
    ring.write(t, row(rotated_.k, t).data(), row(rotated_.v, t).data());
    raw_ring.write(t, row(raw_.k, t).data(), row(raw_.v, t).data());
    const double* q = row(rotated_.q, t).data();
    Gathered by_position(o_.head_dim), by_slot(o_.head_dim);
    for (Index slot = 0; slot < smaller(t + 1, o_.W); ++slot) {
      by_position.add(ring.k(slot), ring.v(slot));
      std::vector<double> turned(raw_ring.k(slot), raw_ring.k(slot) + o_.head_dim);
      rotate(turned, static_cast<double>(slot));
      by_slot.add(turned.data(), raw_ring.v(slot));
    }
    bool right = false;
    result_.max_err_ring =
        std::max(result_.max_err_ring, error_of(t, by_position.attend(q), right));
    result_.ring_is_right = result_.ring_is_right && right;
    result_.max_err_slot_rope =
        std::max(result_.max_err_slot_rope, error_of(t, by_slot.attend(q), right));
    if (!right && !result_.first_wrong_step) result_.first_wrong_step = t;
  }

  void take_snapshot(const RingCache& ring, Index t) {
    RingSnapshot snapshot{t, ring.slot_of(t), {}};
    for (const Index owner : ring.owners()) {
      if (owner != RingCache::kEmpty) snapshot.positions.push_back(owner);
    }
    result_.snapshots.push_back(snapshot);
  }

  void snapshot_prefilled(Index t, const std::vector<Index>& snapshot_steps) {
    if (!contains(snapshot_steps, t)) return;
    RingCache ring(o_.W, o_.head_dim);
    for (Index i = 0; i <= t; ++i)
      ring.write(i, row(rotated_.k, i).data(), row(rotated_.v, i).data());
    take_snapshot(ring, t);
  }

  const RingTrialOptions& o_;
  Problem problem_;
  Tolerance tolerance_;
  Inputs raw_, rotated_;
  Oracle reference_;
  RingTrial result_;
};

}  // namespace

double ring_trial_bytes(const RingTrialOptions& options) {
  // Raw and rotated inputs and the oracle; two rings, a copy in prefill, and what one query
  // gathers.
  const double ring_rows = 6 * static_cast<double>(options.W);
  return 2 * oracle_bytes(problem_of(options)) +
         8 * ring_rows * (2 * static_cast<double>(options.head_dim) + 1);
}

RingTrial run_ring_trial(const RingTrialOptions& options,
                         const std::vector<Index>& snapshot_steps) {
  if (options.prefill > options.steps) {
    throw UsageError(fmt::format("a prefill of {} is longer than the {} tokens in all",
                                 options.prefill, options.steps),
                     "ask for more steps or a shorter prefill");
  }
  return Trial(options).run(snapshot_steps);
}

}  // namespace swa
