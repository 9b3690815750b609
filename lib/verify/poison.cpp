#include "verify/poison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "verify/comparison.hpp"

namespace swa {
namespace {

constexpr std::size_t kPoisonedKeys = 4;

struct Poison {
  const char* name;
  double value;
};
constexpr std::array kPoisons{Poison{"NaN", std::numeric_limits<double>::quiet_NaN()},
                              Poison{"Inf", std::numeric_limits<double>::infinity()},
                              Poison{"1e4", 1e4}};

bool same_row(const Tensor<double>& a, const Tensor<double>& b, Index batch, Index head,
              Index row) {
  return same_bits(a.row(batch, head, row), b.row(batch, head, row), a.shape.dim);
}

// A row of the tensors k and v, in all heads.
struct KeyRow {
  Index batch = 0, row = 0;
};

void set(Inputs& inputs, const KeyRow& key, double value) {
  for (Tensor<double>* t : {&inputs.k, &inputs.v}) {
    for (Index h = 0; h < t->shape.heads; ++h) {
      std::fill_n(t->row(key.batch, h, key.row), t->shape.dim, value);
    }
  }
}

// How many rows see each key.
std::vector<Index> rows_that_see(const Mask& mask) {
  std::vector<Index> steps(static_cast<std::size_t>(mask.n_k + 1));
  for (Index row = 0; row < mask.n_q; ++row) {
    const RowKeys keys = keys_of_row(mask, row);
    for (const KeyRange& range : {keys.sinks, keys.band}) {
      if (range.empty()) continue;
      ++steps[static_cast<std::size_t>(range.begin)];
      --steps[static_cast<std::size_t>(range.end)];
    }
  }
  std::partial_sum(steps.begin(), steps.end(), steps.begin());
  steps.pop_back();
  return steps;
}

std::vector<KeyRow> dead_keys(const Problem& p) {
  std::vector<KeyRow> dead;
  for (const Sequence& s : sequences(p)) {
    const std::vector<Index> rows = rows_that_see(s.mask);
    for (std::size_t key = 0; key < rows.size(); ++key) {
      if (rows[key] == 0) dead.push_back({s.batch, s.k_row + static_cast<Index>(key)});
    }
    const bool padded = p.layout == Layout::padded;
    for (Index row = s.mask.n_k; padded && row < p.n_k; ++row) dead.push_back({s.batch, row});
  }
  return dead;
}

DeadKeyTest test_dead_keys(const Kernel& kernel, const Problem& p, const Inputs& inputs,
                           const Attention& clean) {
  const std::vector<KeyRow> dead = dead_keys(p);
  DeadKeyTest test;
  test.keys = static_cast<Index>(dead.size());
  if (dead.empty()) return test;
  Inputs poisoned = inputs;
  for (const Poison& poison : kPoisons) {
    for (const KeyRow& key : dead) set(poisoned, key, poison.value);
    const Attention got = run_poisoned(kernel, p, poisoned);
    if (!same_bits(got.out, clean.out) || !same_bits(got.lse, clean.lse)) {
      test.changed_by.emplace_back(poison.name);
    }
  }
  return test;
}

// Keys that some rows of the sequence see and others do not, spread over it.
std::vector<Index> keys_to_poison(const Mask& mask) {
  std::vector<Index> all;
  const std::vector<Index> rows = rows_that_see(mask);
  for (std::size_t key = 0; key < rows.size(); ++key) {
    if (rows[key] > 0 && rows[key] < mask.n_q) all.push_back(static_cast<Index>(key));
  }
  if (all.size() <= kPoisonedKeys) return all;
  std::vector<Index> some;
  for (std::size_t i = 0; i < kPoisonedKeys; ++i) {
    some.push_back(all[i * (all.size() - 1) / (kPoisonedKeys - 1)]);
  }
  return some;
}

// Keys from this one, which the row does not see, to the row's window or its sink tokens, whichever
// is nearer. The window may end before the first key or begin after the last.
Index distance(const Mask& mask, Index row, Index key) {
  const Index position = mask.q_offset + row;
  const Side left = mask.window.reach_left(), right = mask.window.reach_right();
  const Index end = right.bounded ? position + right.reach + 1 : mask.n_k;
  if (key >= end) return key - end + 1;
  const bool chunked = mask.window.kind == Window::Kind::chunked;
  const Index begin = left.bounded ? position - left.reach : chunked ? band_begin(mask, row) : 0;
  const Index sinks = keys_of_row(mask, row).sinks.end;
  return sinks > 0 ? smaller(begin - key, key - sinks + 1) : begin - key;
}

IsolationTest test_isolation(const Kernel& kernel, const Problem& p, const Inputs& inputs,
                             const Attention& clean) {
  const std::vector<Sequence> all = sequences(p);
  const Sequence& s = all.front();
  IsolationTest test;
  test.keys = keys_to_poison(s.mask);
  for (const Index key : test.keys) {
    for (const Poison& poison : kPoisons) {
      Inputs poisoned = inputs;
      set(poisoned, {s.batch, s.k_row + key}, poison.value);
      const Attention got = run_poisoned(kernel, p, poisoned);
      for (const Sequence& other : all) {
        const bool same = other.batch == s.batch && other.q_row == s.q_row;
        for (Index h = 0; h < p.heads_q; ++h) {
          for (Index row = 0; row < other.mask.n_q; ++row) {
            if (same && sees(s.mask, row, key)) continue;
            const Index at = other.q_row + row;
            if (same_row(got.out, clean.out, other.batch, h, at) &&
                (clean.lse.data.empty() || same_row(got.lse, clean.lse, other.batch, h, at))) {
              continue;
            }
            if (std::isfinite(poison.value))
              test.finite_clean = false;
            else
              test.granule = larger(test.granule, same ? distance(s.mask, row, key) : p.n_k);
          }
        }
      }
    }
  }
  return test;
}

}  // namespace

PoisonTest poison_test(const Kernel& kernel, const Problem& p, const Inputs& inputs) {
  PoisonTest test;
  const Attention clean = run_poisoned(kernel, p, inputs), again = run_poisoned(kernel, p, inputs);
  test.deterministic = same_bits(clean.out, again.out) && same_bits(clean.lse, again.lse);
  if (!test.deterministic) return test;
  test.dead = test_dead_keys(kernel, p, inputs, clean);
  test.isolation = test_isolation(kernel, p, inputs, clean);
  return test;
}

}  // namespace swa
