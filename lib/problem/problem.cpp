#include "problem/problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "error.hpp"
#include "problem/cache_layout.hpp"
#include "problem/words.hpp"

namespace swa {
namespace {

void at_least_one(Index value, const char* key) {
  if (value >= 1) return;
  throw UsageError(fmt::format("{} {} is less than 1", option_of(key), value));
}

void add(std::string& line, const char* key, const std::string& value) {
  if (!line.empty()) line += ' ';
  line += option_of(key);
  if (!value.empty()) line += ' ' + value;
}

template <class T>
void add_unless(std::string& line, const char* key, const T& value, const T& usual) {
  if (value != usual) add(line, key, fmt::format("{}", value));
}

std::string side_text(const Side& side) {
  return side.bounded ? fmt::format("{}", side.reach) : std::string("none");
}

void validate_lengths(const Problem& p, const std::vector<Index>& lengths, const char* key,
                      const char* most_key, Index most) {
  if (lengths.empty()) return;
  if (static_cast<Index>(lengths.size()) != p.batch) {
    throw UsageError(fmt::format("{} gives {} sequences a length, and there are {}", option_of(key),
                                 lengths.size(), p.batch),
                     "give --lengths-q and --lengths-k as many values as there are sequences");
  }
  Index total = 0;
  for (const Index length : lengths) {
    if (length > most) {
      throw UsageError(fmt::format("{} has a sequence of {} tokens, more than {} {}",
                                   option_of(key), length, option_of(most_key), most),
                       fmt::format("give a larger {}, or leave it out", option_of(most_key)));
    }
    total += length;
    if (total > kMaxIndex) {
      throw UsageError(fmt::format("{} adds up to more than 2^60 tokens", option_of(key)),
                       "give shorter sequences");
    }
  }
}

}  // namespace

Index Problem::queries(Index sequence) const {
  return lengths_q.empty() ? n_q : lengths_q[static_cast<std::size_t>(sequence)];
}

Index Problem::keys(Index sequence) const {
  return lengths_k.empty() ? n_k : lengths_k[static_cast<std::size_t>(sequence)];
}

Mask Problem::mask(Index sequence) const {
  return Mask::make(window, sinks, queries(sequence), keys(sequence), anchor);
}

Shape Problem::query_shape(Index dim) const {
  if (layout == Layout::padded) return {batch, heads_q, n_q, dim};
  return {1, heads_q, std::accumulate(lengths_q.begin(), lengths_q.end(), Index{0}), dim};
}

Shape Problem::key_shape(Index dim) const {
  if (layout == Layout::padded) return {batch, heads_kv, n_k, dim};
  return {1, heads_kv, std::accumulate(lengths_k.begin(), lengths_k.end(), Index{0}), dim};
}

std::vector<Sequence> sequences(const Problem& p) {
  std::vector<Sequence> all;
  Index q_row = 0, k_row = 0;
  for (Index b = 0; b < p.batch; ++b) {
    const Mask mask = p.mask(b);
    if (p.layout == Layout::padded) {
      all.push_back({b, 0, 0, mask});
      continue;
    }
    all.push_back({0, q_row, k_row, mask});
    q_row += mask.n_q;
    k_row += mask.n_k;
  }
  return all;
}

std::vector<SharedMask> shared_masks(const Problem& p) {
  if (!p.has_lengths()) return {{p.mask(), p.batch}};
  std::map<std::pair<Index, Index>, Index> sizes;
  for (Index b = 0; b < p.batch; ++b) ++sizes[{p.queries(b), p.keys(b)}];
  std::vector<SharedMask> all;
  for (const auto& [size, times] : sizes) {
    all.push_back({Mask::make(p.window, p.sinks, size.first, size.second, p.anchor), times});
  }
  return all;
}

double Problem::score_scale() const {
  return scale.value_or(1.0 / std::sqrt(static_cast<double>(head_dim)));
}

Stream usual_stream(const Problem& p) {
  for (const Shape& shape :
       {p.query_shape(p.head_dim), p.key_shape(p.head_dim), p.key_shape(p.value_dim())}) {
    const double elements = static_cast<double>(shape.batch) * static_cast<double>(shape.heads) *
                            static_cast<double>(shape.tokens) * static_cast<double>(shape.dim);
    if (elements > static_cast<double>(kMostOfNumpy)) return Stream::counter;
  }
  return Stream::numpy;
}

Stream Problem::drawn_from() const {
  return stream ? *stream : usual_stream(*this);
}

void validate(const Problem& p) {
  at_least_one(p.batch, "batch");
  at_least_one(p.heads_q, "heads_q");
  at_least_one(p.heads_kv, "heads_kv");
  at_least_one(p.n_q, "n_q");
  at_least_one(p.n_k, "n_k");
  at_least_one(p.head_dim, "head_dim");
  at_least_one(p.value_dim(), "head_dim_v");
  validate_lengths(p, p.lengths_q, "lengths_q", "n_q", p.n_q);
  validate_lengths(p, p.lengths_k, "lengths_k", "n_k", p.n_k);
  if (p.heads_q % p.heads_kv != 0) {
    const Index nearest = std::gcd(p.heads_q, p.heads_kv);
    throw UsageError(fmt::format("{} {} is not a multiple of {} {}", option_of("heads_q"),
                                 p.heads_q, option_of("heads_kv"), p.heads_kv),
                     fmt::format("each kv head serves the same number of query heads; try {} {}",
                                 option_of("heads_kv"), nearest));
  }
  if (p.sinks > p.n_k) {
    throw UsageError(
        fmt::format("{} {} is more than the {} keys there are", option_of("sinks"), p.sinks, p.n_k),
        fmt::format("sink tokens are the first keys; ask for fewer, or give {}, which follows {} "
                    "where it is left out",
                    option_of("n_k"), option_of("n_q")));
  }
  validate_cache(p);
}

bool states_stream(const Problem& p) {
  return p.drawn_from() == Stream::counter || usual_stream(p) == Stream::counter;
}

std::string options(const Window& window) {
  std::string line;
  if (window.kind == Window::Kind::causal) {
    add(line, "window", fmt::format("{}", window.width));
  } else if (window.kind == Window::Kind::band) {
    add(line, "left", side_text(window.left));
    add(line, "right", side_text(window.right));
  } else if (window.kind == Window::Kind::chunked) {
    add(line, "mask", fmt::format("chunked:{}", window.width));
  }
  return line;
}

namespace {

// Packed sequences have lengths and no n_q or n_k.
void add_sizes(std::string& line, const Problem& p) {
  if (p.layout == Layout::padded) {
    add(line, "n_q", fmt::format("{}", p.n_q));
    if (p.n_k != p.n_q || p.has_lengths()) add(line, "n_k", fmt::format("{}", p.n_k));
  }
  const bool follow = p.layout == Layout::packed && p.lengths_k == p.lengths_q;
  for (const auto& [key, lengths] :
       {std::pair("lengths_q", &p.lengths_q), std::pair("lengths_k", &p.lengths_k)}) {
    if (lengths->empty() || (follow && lengths == &p.lengths_k)) continue;
    add(line, key, fmt::format("{}", fmt::join(*lengths, ",")));
  }
  if (!p.has_lengths()) add_unless(line, "batch", p.batch, Index{1});
}

void add_cache(std::string& line, const Problem& p) {
  const CacheLayout usual;
  if (p.cache.kind == usual.kind) return;
  add(line, "cache", std::string(name(p.cache.kind)));
  if (p.cache.kind == CacheKind::paged) return add_unless(line, "page", p.cache.page, usual.page);
  if (p.cache.capacity) add_unless(line, "capacity", *p.cache.capacity, least_capacity(p));
}

}  // namespace

std::string options(const Problem& p) {
  const Problem usual;
  std::string line = options(p.window);
  add_sizes(line, p);
  add_unless(line, "heads_q", p.heads_q, usual.heads_q);
  if (p.heads_kv != p.heads_q) add(line, "heads_kv", fmt::format("{}", p.heads_kv));
  add_unless(line, "head_dim", p.head_dim, usual.head_dim);
  if (p.value_dim() != p.head_dim) add(line, "head_dim_v", fmt::format("{}", p.value_dim()));
  add_unless(line, "sinks", p.sinks, usual.sinks);
  if (p.sink_logits) add(line, "sink_logits", "");
  add_unless(line, "softcap", p.softcap, usual.softcap);
  if (p.scale) add(line, "scale", fmt::format("{}", *p.scale));
  if (p.anchor != usual.anchor) add(line, "anchor", "top-left");
  add_cache(line, p);
  if (p.dtype != usual.dtype) add(line, "dtype", std::string(name(p.dtype)));
  add_unless(line, "seed", p.seed, usual.seed);
  if (p.inputs != usual.inputs) add(line, "inputs", std::string(name(p.inputs)));
  if (states_stream(p)) add(line, "stream", std::string(name(p.drawn_from())));
  return line;
}

std::string describe_batch(const Problem& p) {
  if (!p.has_lengths()) return {};
  constexpr Index kMost = 8;  // lengths that a sentence holds
  const auto list = [&](auto length_of) {
    std::vector<std::string> words;
    for (Index b = 0; b < smaller(p.batch, kMost); ++b) {
      words.push_back(fmt::format("{}", length_of(b)));
    }
    if (p.batch > kMost) words.emplace_back("...");
    return fmt::format("{}", fmt::join(words, ", "));
  };
  return fmt::format(
      "{} {}, {}: {} queries on {} keys", p.batch, p.batch == 1 ? "sequence" : "sequences",
      p.layout == Layout::packed ? "packed" : "padded", list([&](Index b) { return p.queries(b); }),
      list([&](Index b) { return p.keys(b); }));
}

}  // namespace swa
