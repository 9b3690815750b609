#include "verify/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "error.hpp"
#include "parallel.hpp"

namespace swa {
namespace {

// k holds this everywhere: where an output is negative, k was read as v.
constexpr double kFromK = -1;

int exponent_of(Dtype dtype, Index keys) {
  const double least = std::log2(static_cast<double>(larger(keys, 1)) + 1);
  const int needed = static_cast<int>(std::ceil(least)) + std::ilogb(smallest_normal(dtype));
  return std::max(0, needed);
}

// Tensors of the problem's shapes, in which all scores are equal.
Inputs level_inputs(const Problem& p) {
  Inputs inputs{Tensor<double>(p.query_shape(p.head_dim)),
                Tensor<double>(p.key_shape(p.head_dim), kFromK),
                Tensor<double>(p.key_shape(p.value_dim())),
                {}};
  if (p.sink_logits) inputs.sink_logits.assign(static_cast<std::size_t>(p.heads_q), 0);
  return inputs;
}

// Keys, as rows of the tensor k, that some of the given rows of the output should see.
std::vector<bool> keys_to_see(const Problem& p, const std::vector<Index>& rows) {
  std::vector<bool> seen(static_cast<std::size_t>(p.key_shape(1).tokens));
  for (const Sequence& s : sequences(p)) {
    for (const Index row : rows) {
      if (row < s.q_row || row >= s.q_row + s.mask.n_q) continue;
      for (const KeyRun& run : runs_of(keys_of_row(s.mask, row - s.q_row))) {
        std::fill(seen.begin() + s.k_row + run.begin, seen.begin() + s.k_row + run.end, true);
      }
    }
  }
  return seen;
}

std::vector<Index> all_rows(const Problem& p) {
  std::vector<Index> rows(static_cast<std::size_t>(p.query_shape(1).tokens));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Index>(i);
  return rows;
}

// Keys for which `wanted` holds.
std::vector<Index> keys_where(const std::vector<bool>& seen, bool wanted) {
  std::vector<Index> keys;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == wanted) keys.push_back(static_cast<Index>(i));
  }
  return keys;
}

class Prober {
 public:
  Prober(const Kernel& kernel, const Problem& problem, std::vector<Index> rows)
      : kernel_(kernel),
        p_(problem),
        rows_(std::move(rows)),
        code_(std::ldexp(1.0, exponent_of(problem.dtype, problem.key_shape(1).tokens))),
        inputs_(level_inputs(problem)) {
    const Shape shape = p_.query_shape(1);
    for (Index b = 0; b < shape.batch; ++b) {
      for (Index h = 0; h < shape.heads; ++h) {
        for (const Index row : rows_) {
          found_.push_back({b, h, row});
        }
      }
    }
    hits_.resize(found_.size());
  }

  Probe run(bool every_key) {
    const std::vector<bool> seen = keys_to_see(p_, rows_);
    std::vector<Index> fine = keys_where(seen, true);
    const std::vector<Index> others = keys_where(seen, false);
    for (const Index key : every_key ? others : suspects(others)) fine.push_back(key);
    std::sort(fine.begin(), fine.end());
    const auto width = static_cast<std::size_t>(p_.value_dim());
    // One launch at least: it shows rows that are NaN or never written.
    for (std::size_t first = 0; first == 0 || first < fine.size(); first += width) {
      const std::size_t end = std::min(first + width, fine.size());
      const std::vector<Index> keys(fine.begin() + static_cast<std::ptrdiff_t>(first),
                                    fine.begin() + static_cast<std::ptrdiff_t>(end));
      launch(keys);
    }
    Probe result;
    result.heads = probe_heads();
    for (std::size_t i = 0; i < found_.size(); ++i) settle(found_[i], hits_[i]);
    result.rows = std::move(found_);
    result.launches = launches_;
    return result;
  }

 private:
  struct Hits {  // neighbouring keys of one weight
    Index begin = 0, end = 0;
    double weight = 0;
  };

  // Of keys that no row should see, those that may be seen: element i of v stands for the keys
  // i, i + head_dim_v, ... of the list at once, so one launch clears them all.
  std::vector<Index> suspects(const std::vector<Index>& keys) {
    if (keys.empty()) return {};
    const Index width = p_.value_dim();
    const auto each = [&](double value) {
      for (std::size_t i = 0; i < keys.size(); ++i) {
        set(keys[i], static_cast<Index>(i) % width, value);
      }
    };
    each(code_);
    const Attention got = call();
    each(0);
    std::vector<bool> hit(static_cast<std::size_t>(width));
    for (const ProbedRow& row : found_) {
      const double* out = got.out.row(row.batch, row.head, row.row);
      for (Index d = 0; d < width; ++d) {
        // What is not finite is found again in the launches that follow.
        if (out[d] > 0) hit[static_cast<std::size_t>(d)] = true;
      }
    }
    std::vector<Index> left;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (hit[i % static_cast<std::size_t>(width)]) left.push_back(keys[i]);
    }
    return left;
  }

  // Element i of v names keys[i].
  void launch(const std::vector<Index>& keys) {
    for (std::size_t i = 0; i < keys.size(); ++i) set(keys[i], static_cast<Index>(i), code_);
    const Attention got = call();
    for (std::size_t i = 0; i < keys.size(); ++i) set(keys[i], static_cast<Index>(i), 0);
    parallel_for(static_cast<Index>(found_.size()), [&](Index i) {
      const auto at = static_cast<std::size_t>(i);
      ProbedRow& row = found_[at];
      const double* out = got.out.row(row.batch, row.head, row.row);
      if (!got.lse.data.empty()) row.lse = got.lse.row(row.batch, row.head, row.row)[0];
      for (Index d = 0; d < p_.value_dim(); ++d) {
        const double x = out[d];
        if (x == 0) continue;
        if (is_unwritten(x))
          row.unwritten = true;
        else if (!std::isfinite(x))
          row.nan = true;
        else if (x < 0)
          row.from_k = true;
        else if (d < static_cast<Index>(keys.size())) {
          add(hits_[at], keys[static_cast<std::size_t>(d)], x / code_);
        }
      }
    });
  }

  // Which (batch, kv head) each query head reads: element i of v stands for one of them.
  std::vector<ProbedHead> probe_heads() {
    const Shape kv = p_.key_shape(p_.value_dim());
    const Index all = kv.batch * kv.heads;
    if (all == 1) return {};
    std::vector<ProbedHead> heads;
    const Shape outs = p_.query_shape(1);
    for (Index b = 0; b < outs.batch; ++b) {
      for (Index h = 0; h < outs.heads; ++h) heads.push_back({b, h, {}});
    }
    for (Index first = 0; first < all; first += kv.dim) {
      const Index end = smaller(first + kv.dim, all);
      const auto each = [&](double value) {
        for (Index i = first; i < end; ++i) {
          for (Index t = 0; t < kv.tokens; ++t) {
            inputs_.v.row(i / kv.heads, i % kv.heads, t)[i - first] = value;
          }
        }
      };
      each(code_);
      const Attention got = call();
      each(0);
      for (ProbedHead& head : heads) {
        for (Index i = first; i < end; ++i) {
          const bool reads = std::any_of(rows_.begin(), rows_.end(), [&](Index row) {
            return got.out.row(head.batch, head.head, row)[i - first] > 0;
          });
          if (reads) head.sources.emplace_back(i / kv.heads, i % kv.heads);
        }
      }
    }
    return heads;
  }

  void set(Index key, Index element, double value) {
    const Shape& shape = inputs_.v.shape;
    for (Index b = 0; b < shape.batch; ++b) {
      for (Index h = 0; h < shape.heads; ++h) inputs_.v.row(b, h, key)[element] = value;
    }
  }

  Attention call() {
    ++launches_;
    return run_poisoned(kernel_, p_, inputs_);
  }

  static void add(std::vector<Hits>& hits, Index key, double weight) {
    if (!hits.empty() && hits.back().end == key && hits.back().weight == weight) {
      ++hits.back().end;
    } else {
      hits.push_back({key, key + 1, weight});
    }
  }

  void settle(ProbedRow& row, const std::vector<Hits>& hits) const {
    if (hits.empty()) return;
    row.weight = std::min_element(hits.begin(), hits.end(), [](const Hits& a, const Hits& b) {
                   return a.weight < b.weight;
                 })->weight;
    for (const Hits& hit : hits) {
      const double ratio = hit.weight / row.weight;
      const Index times = std::lround(ratio);
      append(row.keys, {hit.begin, hit.end, times});
      // Two stored outputs, each rounded once, and sums of few roundings in fp32.
      const double roundings = 4 * unit_roundoff(p_.dtype) + 64 * unit_roundoff(Dtype::fp32);
      row.uneven |= std::abs(ratio - static_cast<double>(times)) > roundings * ratio;
    }
  }

  const Kernel& kernel_;
  const Problem& p_;
  std::vector<Index> rows_;
  double code_;
  Inputs inputs_;
  std::vector<ProbedRow> found_;
  std::vector<std::vector<Hits>> hits_;  // of each row, ascending in key
  Index launches_ = 0;
};

}  // namespace

double largest_probe(Dtype dtype) {
  return std::exp2(std::ilogb(largest_finite(dtype)) - std::ilogb(smallest_normal(dtype))) - 1;
}

Index probe_launches(const Problem& p, const std::vector<Index>& rows, bool every_key) {
  const Shape kv = p.key_shape(1);
  Index keys = kv.tokens;
  if (!every_key) {
    const std::vector<bool> seen = keys_to_see(p, rows.empty() ? all_rows(p) : rows);
    keys = static_cast<Index>(std::count(seen.begin(), seen.end(), true));
  }
  const Index sources = kv.batch * kv.heads;
  return larger(1, ceil_div(keys, p.value_dim())) + (keys < kv.tokens) +
         (sources > 1 ? ceil_div(sources, p.value_dim()) : 0);
}

std::vector<Index> sampled_rows(const Problem& p, Index count) {
  const Index rows = p.query_shape(1).tokens;
  if (rows <= count) return all_rows(p);
  // In the order of their worth: both ends; each side of where the window begins to cut.
  std::vector<Index> wishes{0, rows - 1};
  const Mask mask = p.mask();
  const Side left = mask.window.reach_left();
  const Index reach = left.bounded ? left.reach : mask.window.width - 1;
  for (const Index at : {reach - mask.q_offset, reach + 1 - mask.q_offset}) wishes.push_back(at);
  std::set<Index> chosen;
  const auto take = [&](Index row) {
    if (row >= 0 && row < rows && static_cast<Index>(chosen.size()) < count) chosen.insert(row);
  };
  for (const Index row : wishes) take(row);
  // Clusters of neighbours share most of their keys: few launches.
  for (Index step = 0; static_cast<Index>(chosen.size()) < count; ++step) {
    take(rows / 2 + step);
    take(rows / 2 - step);
  }
  return {chosen.begin(), chosen.end()};
}

Probe probe(const Kernel& kernel, const Problem& problem, const std::vector<Index>& rows,
            bool every_key) {
  const double most = largest_probe(problem.dtype);
  const Index keys = problem.key_shape(1).tokens;
  if (static_cast<double>(keys) > most) {
    throw UsageError(fmt::format("{} keys are too many for a probe in {}: 2^c / n would not be a "
                                 "normal number beyond n = {:.0f}",
                                 keys, name(problem.dtype), most),
                     "probe a shorter sequence, or another dtype");
  }
  Probe result = Prober(kernel, problem, rows.empty() ? all_rows(problem) : rows).run(every_key);
  result.all_rows = rows.empty();
  return result;
}

}  // namespace swa
