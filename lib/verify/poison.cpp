#include "verify/poison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

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

bool same_bits(const double* a, const double* b, Index count) {
  return std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(double)) == 0;
}

bool same_bits(const Tensor<double>& a, const Tensor<double>& b) {
  return a.data.size() == b.data.size() &&
         same_bits(a.data.data(), b.data.data(), static_cast<Index>(a.data.size()));
}

Attention call(const Kernel& kernel, const Problem& p, const Inputs& inputs) {
  Attention got = poisoned_outputs(p);
  kernel.run(p, inputs, got);
  return got;
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

// Every key of a sequence that one of its rows sees.
std::vector<bool> seen_keys(const Mask& mask) {
  std::vector<bool> seen(static_cast<std::size_t>(mask.n_k));
  for (Index row = 0; row < mask.n_q; ++row) {
    const RowKeys keys = keys_of_row(mask, row);
    for (const KeyRange& range : {keys.sinks, keys.band}) {
      if (range.empty()) continue;
      std::fill(seen.begin() + range.begin, seen.begin() + range.end, true);
    }
  }
  return seen;
}

std::vector<KeyRow> dead_keys(const Problem& p) {
  std::vector<KeyRow> dead;
  for (const Sequence& s : sequences(p)) {
    const std::vector<bool> seen = seen_keys(s.mask);
    for (std::size_t key = 0; key < seen.size(); ++key) {
      if (!seen[key]) dead.push_back({s.batch, s.k_row + static_cast<Index>(key)});
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
    const Attention got = call(kernel, p, poisoned);
    if (!same_bits(got.out, clean.out) || !same_bits(got.lse, clean.lse)) {
      test.changed_by.emplace_back(poison.name);
    }
  }
  return test;
}

// Keys that some rows of the sequence see and others do not, spread over it.
std::vector<Index> keys_to_poison(const Mask& mask) {
  std::vector<Index> all;
  for (Index key = 0; key < mask.n_k; ++key) {
    bool seen = false, hidden = false;
    for (Index row = 0; row < mask.n_q && !(seen && hidden); ++row) {
      (sees(mask, row, key) ? seen : hidden) = true;
    }
    if (seen && hidden) all.push_back(key);
  }
  if (all.size() <= kPoisonedKeys) return all;
  std::vector<Index> some;
  for (std::size_t i = 0; i < kPoisonedKeys; ++i) {
    some.push_back(all[i * (all.size() - 1) / (kPoisonedKeys - 1)]);
  }
  return some;
}

// Keys from a row's nearest key, or from its position where it sees none, to this one.
Index distance(const Mask& mask, Index row, Index key) {
  const RowKeys keys = keys_of_row(mask, row);
  const Index position = mask.q_offset + row;
  if (keys.size() == 0) return larger(position - key, key - position);
  Index nearest = mask.n_k;
  for (const KeyRange& range : {keys.sinks, keys.band}) {
    if (range.empty()) continue;
    const Index closest = clamp(key, range.begin, range.end - 1);
    nearest = smaller(nearest, larger(closest - key, key - closest));
  }
  return nearest;
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
      const Attention got = call(kernel, p, poisoned);
      for (const Sequence& other : all) {
        const bool same = other.batch == s.batch && other.q_row == s.q_row;
        for (Index h = 0; h < p.heads_q; ++h) {
          for (Index row = 0; row < other.mask.n_q; ++row) {
            if (same && sees(s.mask, row, key)) continue;
            const Index at = other.q_row + row;
            if (same_bits(got.out.row(other.batch, h, at), clean.out.row(other.batch, h, at),
                          p.value_dim())) {
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
  const Attention clean = call(kernel, p, inputs), again = call(kernel, p, inputs);
  test.deterministic = same_bits(clean.out, again.out) && same_bits(clean.lse, again.lse);
  if (!test.deterministic) return test;
  test.dead = test_dead_keys(kernel, p, inputs, clean);
  test.isolation = test_isolation(kernel, p, inputs, clean);
  return test;
}

}  // namespace swa
