#include "verify/ring_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cache/ring.hpp"
#include "error.hpp"
#include "problem/problem.hpp"
#include "reference/oracle.hpp"
#include "reference/rope.hpp"
#include "verify/comparison.hpp"
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
  // The keys of the ring that a query at position t may see.
  void add_window(const RingCache& ring, Index t, Index W) {
    for (Index slot = 0; slot < ring.capacity(); ++slot) {
      const Index position = ring.owners()[static_cast<std::size_t>(slot)];
      if (position == RingCache::kEmpty || position > t || position <= t - W) continue;
      add(ring.k(slot), ring.v(slot));
    }
  }
  bool empty() const { return k_.empty(); }

  // Attention of one query over all of them; 0 where there are none.
  std::vector<double> attend(const double* q) && {
    if (empty()) return std::vector<double>(static_cast<std::size_t>(head_dim_));
    Problem problem;  // one query, no window: it sits at the last key and sees all
    problem.n_k = static_cast<Index>(k_.size()) / head_dim_;
    problem.head_dim = head_dim_;
    problem.dtype = Dtype::fp64;
    Inputs inputs;
    inputs.q = Tensor<double>({1, 1, 1, head_dim_});
    inputs.k.shape = inputs.v.shape = {1, 1, problem.n_k, head_dim_};
    std::copy_n(q, head_dim_, inputs.q.data.begin());
    inputs.k.data = std::move(k_);
    inputs.v.data = std::move(v_);
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
        inputs_(make_inputs(problem_)),
        by_slot_(inputs_.k) {
    for (Index t = 0; t < o_.steps; ++t) {
      rotate(row(inputs_.q, t), static_cast<double>(t));
      rotate(row(inputs_.k, t), static_cast<double>(t));
      rotate(row(by_slot_, t), static_cast<double>(t % o_.W));
    }
    reference_ = oracle(problem_, inputs_);
  }

  RingTrial run(const std::vector<Index>& snapshot_steps,
                const std::function<void(Index)>& on_step) {
    RingCache ring(o_.W, o_.head_dim), slot_ring(o_.W, o_.head_dim);
    const Index chunk = o_.chunk > 0 ? o_.chunk : o_.prefill;
    for (Index t = 0; t < o_.steps; ++t) {
      if (on_step) on_step(t);
      if (t < o_.prefill && t % chunk == 0) {
        attend_chunk(ring, {t, smaller(t + chunk, o_.prefill)});
      }
      ring.write(t, row(inputs_.k, t).data(), row(inputs_.v, t).data());
      slot_ring.write(t, row(by_slot_, t).data(), row(inputs_.v, t).data());
      if (t >= o_.prefill) decode(ring, slot_ring, t);
      // A chunk is written as a whole: the ring never stands between two of its tokens.
      const bool inside_chunk = t + 1 < o_.prefill && (t + 1) % chunk != 0;
      const auto& steps = snapshot_steps;
      const bool wanted = std::find(steps.begin(), steps.end(), t) != steps.end();
      if (wanted && !inside_chunk) take_snapshot(ring, t);
    }
    return result_;
  }

 private:
  std::span<double> row(Tensor<double>& tensor, Index t) const {
    return {tensor.row(0, 0, t), static_cast<std::size_t>(o_.head_dim)};
  }

  // Row t of what was computed from the gathered keys, against the full history.
  RowComparison compare(Index t, Gathered keys) {
    const std::vector<double> out = std::move(keys).attend(inputs_.q.row(0, 0, t));
    const RowComparison found = compare_row(reference_, tolerance_, t, out.data());
    result_.largest_bound = std::max(result_.largest_bound, found.bound);
    return found;
  }

  // A prefill chunk, before the ring holds any of it.
  void attend_chunk(const RingCache& ring, KeyRange chunk) {
    RingCache written_first = ring;
    for (Index t = chunk.begin; t < chunk.end; ++t) {
      written_first.write(t, row(inputs_.k, t).data(), row(inputs_.v, t).data());
    }
    for (Index t = chunk.begin; t < chunk.end; ++t) {
      Gathered after(o_.head_dim);  // the ring as it was, and the chunk's own keys
      after.add_window(ring, t, o_.W);
      for (Index k = larger(chunk.begin, t - o_.W + 1); k <= t; ++k) {
        after.add(row(inputs_.k, k).data(), row(inputs_.v, k).data());
      }
      const RowComparison right = compare(t, std::move(after));
      result_.max_err_write_after = std::max(result_.max_err_write_after, right.error);
      result_.wrong_rows_write_after += !right.right;

      Gathered first(o_.head_dim);
      first.add_window(written_first, t, o_.W);
      result_.blind_rows_write_first += first.empty();
      result_.wrong_rows_write_first += !compare(t, std::move(first)).right;
    }
  }

  void decode(const RingCache& ring, const RingCache& slot_ring, Index t) {
    Gathered by_position(o_.head_dim), by_slot(o_.head_dim);
    by_position.add_window(ring, t, o_.W);
    by_slot.add_window(slot_ring, t, o_.W);
    const RowComparison right = compare(t, std::move(by_position));
    result_.max_err_ring = std::max(result_.max_err_ring, right.error);
    result_.ring_is_right = result_.ring_is_right && right.right;
    const RowComparison wrong = compare(t, std::move(by_slot));
    result_.max_err_slot_rope = std::max(result_.max_err_slot_rope, wrong.error);
    if (!wrong.right && !result_.first_wrong_step) result_.first_wrong_step = t;
  }

  void take_snapshot(const RingCache& ring, Index t) {
    RingSnapshot snapshot{t, ring.slot_of(t), {}};
    for (const Index owner : ring.owners()) {
      if (owner != RingCache::kEmpty) snapshot.positions.push_back(owner);
    }
    result_.snapshots.push_back(snapshot);
  }

  const RingTrialOptions& o_;
  Problem problem_;
  Tolerance tolerance_;
  Inputs inputs_;           // q and k rotated by position
  Tensor<double> by_slot_;  // k rotated by the slot it will lie in
  Oracle reference_;
  RingTrial result_;
};

}  // namespace

double ring_trial_bytes(const RingTrialOptions& options) {
  // Inputs, keys by slot and the oracle; two rings, a copy in prefill, and what one query
  // gathers.
  const double ring_rows = 6 * static_cast<double>(options.W);
  return 2 * oracle_bytes(problem_of(options)) +
         8 * ring_rows * (2 * static_cast<double>(options.head_dim) + 1);
}

RingTrial run_ring_trial(const RingTrialOptions& options, const std::vector<Index>& snapshot_steps,
                         const std::function<void(Index)>& on_step) {
  if (options.prefill > options.steps) {
    throw UsageError(fmt::format("a prefill of {} is longer than the {} tokens in all",
                                 options.prefill, options.steps),
                     "ask for more steps or a shorter prefill");
  }
  return Trial(options).run(snapshot_steps, on_step);
}

}  // namespace swa
