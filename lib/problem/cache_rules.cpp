#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "error.hpp"
#include "problem/cache_layout.hpp"
#include "problem/words.hpp"

namespace swa {
namespace {

struct NamedKind {
  CacheKind kind;
  std::string_view name;
};

constexpr std::array kKinds{NamedKind{CacheKind::contiguous, "contiguous"},
                            NamedKind{CacheKind::ring, "ring"},
                            NamedKind{CacheKind::paged, "paged"}};

// Slots that hold every key from the first sink token on, where a row sees one; else 0.
Index capacity_with_sinks(const Problem& p) {
  Index least = 0;
  for (const SharedMask& s : shared_masks(p)) {
    const RowKeys seen = keys_seen(s.mask);
    if (!seen.sinks.empty()) least = larger(least, larger(seen.sinks.end, seen.band.end));
  }
  return least;
}

void validate_ring(const Problem& p) {
  const bool bounded = p.window.kind == Window::Kind::chunked ||
                       (p.window.reach_left().bounded && p.window.reach_right().bounded);
  if (!bounded) {
    throw UsageError(fmt::format("{} ring holds a bounded number of keys, and a row of this mask "
                                 "may see any number",
                                 option_of("cache")),
                     fmt::format("give a window, such as {} 100, or take {} paged",
                                 option_of("window"), option_of("cache")));
  }
  if (p.cache.capacity) {
    const Index capacity = *p.cache.capacity, least = least_capacity(p);
    if (capacity < least) {
      throw UsageError(fmt::format("{} {} is less than the {} keys from the first to the last that "
                                   "rows of a sequence see",
                                   option_of("capacity"), capacity, least),
                       "leave it out, and the ring is as small as it may be");
    }
  }
  if (const Index all = capacity_with_sinks(p); all > p.ring_capacity()) {
    throw UsageError(
        fmt::format("{} {} do not outlive a ring of {} slots: later keys overwrite them",
                    option_of("sinks"), p.sinks, p.ring_capacity()),
        fmt::format("take {} paged, or a ring that never wraps, {} {}", option_of("cache"),
                    option_of("capacity"), all));
  }
}

// Of all sequences, those that are in the block table, as a double.
double live_pages(const Problem& p) {
  const Index page = p.cache.page;
  double pages = 0;
  for (const SharedMask& s : shared_masks(p)) {
    const auto [sinks, band] = keys_seen(s.mask);
    const Index of_sinks = ceil_div(sinks.end, page), first = band.begin / page;
    const Index of_band = band.empty() ? 0 : (band.end - 1) / page - first + 1;
    const bool shared = !band.empty() && of_sinks > first;
    pages += static_cast<double>(of_sinks + of_band - (shared ? 1 : 0)) *
             static_cast<double>(s.sequences);
  }
  return pages;
}

}  // namespace

std::string_view name(CacheKind kind) {
  for (const NamedKind& named : kKinds) {
    if (named.kind == kind) return named.name;
  }
  throw std::logic_error("no such cache");
}

std::optional<CacheKind> parse_cache(std::string_view word) {
  for (const NamedKind& named : kKinds) {
    if (named.name == word) return named.kind;
  }
  return std::nullopt;
}

std::vector<std::string> cache_words() {
  std::vector<std::string> words;
  for (const NamedKind& named : kKinds) words.emplace_back(named.name);
  return words;
}

Index least_capacity(const Problem& p) {
  Index least = 1;
  for (const SharedMask& s : shared_masks(p)) least = larger(least, keys_seen(s.mask).band.size());
  return least;
}

Index Problem::ring_capacity() const {
  return cache.capacity ? *cache.capacity : least_capacity(*this);
}

void validate_cache(const Problem& p) {
  if (p.cache.kind == CacheKind::ring) validate_ring(p);
  if (p.cache.kind != CacheKind::paged) return;
  const double pages = live_pages(p) + static_cast<double>(kSparePages);
  if (pages <= kAbsentPage) return;
  throw UsageError(fmt::format("{} {} makes more pages than a block table of 32 bits can name",
                               option_of("page"), p.cache.page),
                   "give a larger page");
}

double cached_bytes(const Problem& p) {
  const double of_slot = static_cast<double>(sizeof(double)) * static_cast<double>(p.heads_kv) *
                         static_cast<double>(p.head_dim + p.value_dim());
  switch (p.cache.kind) {
    case CacheKind::contiguous:
      return 0;
    case CacheKind::ring:
      return of_slot * static_cast<double>(p.batch) * static_cast<double>(p.ring_capacity());
    case CacheKind::paged:
      break;
  }
  const double slots =
      (live_pages(p) + static_cast<double>(kSparePages)) * static_cast<double>(p.cache.page);
  const double entries =
      static_cast<double>(p.batch) * static_cast<double>(ceil_div(p.n_k, p.cache.page));
  return of_slot * slots + 2 * sizeof(std::int32_t) * entries;
}

}  // namespace swa
