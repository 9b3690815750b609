#include "problem/cache_layout.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "tensor/random.hpp"

namespace swa {
namespace {

// The keys of a sequence that are live, in order.
std::vector<Index> live_keys_of(const Mask& mask) {
  std::vector<Index> keys;
  const auto [sinks, band] = keys_seen(mask);
  for (const KeyRange& range : {sinks, band}) {
    for (Index key = range.begin; key < range.end; ++key) keys.push_back(key);
  }
  return keys;
}

// A token of the logical tensor, in all heads, to a slot of the cache.
void copy_token(const Tensor<double>& from, Index batch, Index token, Tensor<double>& to,
                Index entry, Index slot) {
  for (Index h = 0; h < from.shape.heads; ++h) {
    std::copy_n(from.row(batch, h, token), from.shape.dim, to.row(entry, h, slot));
  }
}

CachedKeys ring_of(const Problem& p, const Tensor<double>& logical, double dead) {
  const Index capacity = p.ring_capacity();
  CachedKeys cached;
  cached.slots = Tensor<double>({p.batch, logical.shape.heads, capacity, logical.shape.dim}, dead);
  Index entry = 0;
  for (const Sequence& s : sequences(p)) {
    for (const Index key : live_keys_of(s.mask)) {
      copy_token(logical, s.batch, s.k_row + key, cached.slots, entry, key % capacity);
    }
    ++entry;
  }
  return cached;
}

// The numbers 0 .. count - 1 in an order drawn from the seed.
std::vector<std::int32_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::int32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  NormalStream stream(seed);
  for (std::size_t left = count; left > 1; --left) {
    const auto chosen = static_cast<std::size_t>(stream.next_uniform() * static_cast<double>(left));
    std::swap(order[left - 1], order[chosen]);
  }
  return order;
}

CachedKeys pages_of(const Problem& p, const Tensor<double>& logical, double dead) {
  const Index page = p.cache.page;
  const std::vector<Sequence> all = sequences(p);
  CachedKeys cached;
  for (const Sequence& s : all) {
    cached.table_stride = larger(cached.table_stride, ceil_div(s.mask.n_k, page));
  }
  cached.table.assign(static_cast<std::size_t>(p.batch * cached.table_stride), kAbsentPage);
  const auto entry = [&](std::size_t sequence, Index key) -> std::int32_t& {
    return cached.table[sequence * static_cast<std::size_t>(cached.table_stride) +
                        static_cast<std::size_t>(key / page)];
  };
  // Numbered in the order of sequences and keys first.
  std::int32_t pages = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Index key : live_keys_of(all[i].mask)) {
      if (entry(i, key) == kAbsentPage) entry(i, key) = pages++;
    }
  }
  const std::vector<std::int32_t> order =
      shuffled(static_cast<std::size_t>(pages + kSparePages), p.seed);
  for (std::int32_t& number : cached.table) {
    if (number != kAbsentPage) number = order[static_cast<std::size_t>(number)];
  }
  cached.slots =
      Tensor<double>({pages + kSparePages, logical.shape.heads, page, logical.shape.dim}, dead);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Index key : live_keys_of(all[i].mask)) {
      copy_token(logical, all[i].batch, all[i].k_row + key, cached.slots, entry(i, key),
                 key % page);
    }
  }
  return cached;
}

}  // namespace

CachedKeys lay_out(const Problem& p, const Tensor<double>& logical, double dead) {
  switch (p.cache.kind) {
    case CacheKind::ring:
      return ring_of(p, logical, dead);
    case CacheKind::paged:
      return pages_of(p, logical, dead);
    case CacheKind::contiguous:
      break;
  }
  throw std::logic_error("a contiguous cache needs no layout");
}

}  // namespace swa
