#include "problem/sweep.hpp"

#include <fmt/format.h>

#include "error.hpp"

namespace swa {
namespace {

constexpr std::size_t kMaxProblems = 100'000;

// One axis: each problem so far, once for each value. An axis that was not given changes nothing.
template <class T, class Set>
void cross(std::vector<Problem>& problems, const std::vector<T>& values, Set set) {
  if (values.empty()) return;
  if (problems.size() > kMaxProblems / values.size()) {
    throw UsageError(fmt::format("the sweep has more than {} problems", kMaxProblems),
                     "shorten a list, or run it in parts");
  }
  require_size_of_sweep(problems.size() * values.size(), problems.front());
  std::vector<Problem> crossed;
  crossed.reserve(problems.size() * values.size());
  for (const Problem& problem : problems) {
    for (const T& value : values) {
      crossed.push_back(problem);
      set(crossed.back(), value);
    }
  }
  problems = std::move(crossed);
}

}  // namespace

void require_size_of_sweep(std::size_t problems, const Problem& one) {
  constexpr std::size_t kMaxLengths = 4'000'000;
  const std::size_t lengths = one.lengths_q.size() + one.lengths_k.size();
  if (lengths == 0 || problems <= kMaxLengths / lengths) return;
  throw UsageError(fmt::format("the sweep has {} problems of {} lengths each", problems, lengths),
                   "shorten a list, or run it in parts");
}

std::vector<Problem> expand(const Sweep& s) {
  std::vector<Problem> problems{s.base};
  // Where n_k or heads_kv has no list of its own it follows n_q or heads_q.
  const bool n_k_follows = s.n_k.empty(), kv_follows = s.heads_kv.empty();
  cross(problems, s.batch, [](Problem& p, Index v) { p.batch = v; });
  cross(problems, s.heads_q, [&](Problem& p, Index v) {
    p.heads_q = v;
    if (kv_follows) p.heads_kv = v;
  });
  cross(problems, s.heads_kv, [](Problem& p, Index v) { p.heads_kv = v; });
  cross(problems, s.head_dim, [](Problem& p, Index v) { p.head_dim = v; });
  cross(problems, s.dtypes, [](Problem& p, Dtype v) { p.dtype = v; });
  cross(problems, s.n_q, [&](Problem& p, Index v) {
    p.n_q = v;
    if (n_k_follows) p.n_k = v;
  });
  cross(problems, s.n_k, [](Problem& p, Index v) { p.n_k = v; });
  cross(problems, s.windows, [](Problem& p, const Window& v) { p.window = v; });
  cross(problems, s.sinks, [](Problem& p, Index v) { p.sinks = v; });
  cross(problems, s.caches, [](Problem& p, const CacheLayout& v) { p.cache = v; });
  for (const Problem& problem : problems) validate(problem);
  return problems;
}

}  // namespace swa
