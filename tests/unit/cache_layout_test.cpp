#include "problem/cache_layout.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "error.hpp"
#include "problem/random_problems.hpp"
#include "problem/stated.hpp"

using namespace swa;

namespace {

constexpr double kDead = -1;

Problem decode(Index W, Index n_k, CacheLayout cache) {
  Problem p;
  p.n_q = 1;
  p.n_k = n_k;
  p.window = Window::causal(W);
  p.head_dim = 1;
  p.cache = cache;
  return p;
}

CacheLayout ring(std::optional<Index> capacity = {}) {
  return {CacheKind::ring, capacity};
}

CacheLayout paged(Index page) {
  return {CacheKind::paged, {}, page};
}

// Each element is its own number in the tensor.
Tensor<double> numbered(const Problem& p, Index dim) {
  Tensor<double> tensor(p.key_shape(dim));
  for (std::size_t i = 0; i < tensor.data.size(); ++i) tensor.data[i] = static_cast<double>(i);
  return tensor;
}

bool is_live(const Mask& mask, Index key) {
  for (Index row = 0; row < mask.n_q; ++row) {
    if (sees(mask, row, key)) return true;
  }
  return false;
}

// From the first live key of a sequence to the last, by looking at each pair; at least 1.
Index slots_needed(const Problem& p) {
  Index most = 1;
  for (const Sequence& s : sequences(p)) {
    Index first = -1, last = -1;
    for (Index key = 0; key < s.mask.n_k; ++key) {
      if (!is_live(s.mask, key)) continue;
      if (first < 0) first = key;
      last = key;
    }
    if (first >= 0) most = std::max(most, last - first + 1);
  }
  return most;
}

struct Place {
  Index entry = 0, slot = 0;
  auto operator<=>(const Place&) const = default;
};

// Where a kernel looks for a key, if it has to look at all.
Place place_of(const Problem& p, const CachedKeys& cached, Index sequence, Index key) {
  if (p.cache.kind == CacheKind::ring) return {sequence, key % p.ring_capacity()};
  const Index at = sequence * cached.table_stride + key / p.cache.page;
  return {cached.table[static_cast<std::size_t>(at)], key % p.cache.page};
}

bool holds(const Tensor<double>& slots, const Place& place, const Tensor<double>& logical,
           Index batch, Index token) {
  for (Index h = 0; h < logical.shape.heads; ++h) {
    const double* const got = slots.row(place.entry, h, place.slot);
    if (!std::equal(got, got + logical.shape.dim, logical.row(batch, h, token))) return false;
  }
  return true;
}

bool is_dead(const Tensor<double>& slots, const Place& place) {
  for (Index h = 0; h < slots.shape.heads; ++h) {
    const double* const got = slots.row(place.entry, h, place.slot);
    if (std::any_of(got, got + slots.shape.dim, [](double x) { return x != kDead; })) return false;
  }
  return true;
}

// Entries of the table that no live key needs name no page.
void check_table(const Problem& p, const CachedKeys& cached) {
  const std::vector<Sequence> all = sequences(p);
  REQUIRE(cached.table.size() == all.size() * static_cast<std::size_t>(cached.table_stride));
  for (std::size_t i = 0; i < cached.table.size(); ++i) {
    const auto stride = static_cast<std::size_t>(cached.table_stride);
    const Mask& mask = all[i / stride].mask;
    const Index first = static_cast<Index>(i % stride) * p.cache.page;
    bool needed = false;
    for (Index key = first; key < first + p.cache.page; ++key) needed |= is_live(mask, key);
    if (needed) {
      CHECK(cached.table[i] >= 0);
      CHECK(cached.table[i] < cached.slots.shape.batch);
    } else {
      CHECK(cached.table[i] == kAbsentPage);
    }
  }
}

void check_layout(const Problem& p, Index dim) {
  const Tensor<double> logical = numbered(p, dim);
  const CachedKeys cached = lay_out(p, logical, kDead);
  const Shape& shape = cached.slots.shape;
  CHECK(shape.heads == p.heads_kv);
  CHECK(shape.dim == dim);
  if (p.cache.kind == CacheKind::paged) check_table(p, cached);
  std::set<Place> used;
  const std::vector<Sequence> all = sequences(p);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Sequence& s = all[i];
    for (Index key = 0; key < s.mask.n_k; ++key) {
      if (!is_live(s.mask, key)) continue;
      const Place place = place_of(p, cached, static_cast<Index>(i), key);
      REQUIRE(place.entry < shape.batch);
      REQUIRE(used.insert(place).second);
      REQUIRE(holds(cached.slots, place, logical, s.batch, s.k_row + key));
    }
  }
  Index unowned = 0;
  for (Index entry = 0; entry < shape.batch; ++entry) {
    bool any = false;
    for (Index slot = 0; slot < shape.tokens; ++slot) {
      if (used.contains({entry, slot})) {
        any = true;
      } else {
        REQUIRE(is_dead(cached.slots, {entry, slot}));
      }
    }
    unowned += !any;
  }
  if (p.cache.kind == CacheKind::paged) {
    CHECK(shape.tokens == p.cache.page);
    CHECK(unowned == kSparePages);
  } else {
    CHECK(shape.batch == p.batch);
    CHECK(shape.tokens == p.ring_capacity());
  }
}

std::string complaint(const Problem& p, bool with_remedy = false) {
  try {
    validate(p);
  } catch (const UsageError& error) {
    return with_remedy ? error.what() + (" | " + error.remedy()) : error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a ring of three slots holds the last three keys") {
  const Problem p = decode(3, 8, ring());
  CHECK(lay_out(p, numbered(p, 1), kDead).slots.data == std::vector<double>{6, 7, 5});
  const Problem wider = decode(3, 8, ring(5));
  CHECK(lay_out(wider, numbered(wider, 1), kDead).slots.data ==
        std::vector<double>{5, 6, 7, kDead, kDead});
  const CachedKeys usual = lay_out(wider, numbered(wider, 1));
  CHECK(std::isnan(usual.slots.data[3]));
}

TEST_CASE("pages before the window are absent and the slots around it are dead") {
  const Problem p = decode(3, 10, paged(4));  // keys 7, 8 and 9
  const CachedKeys cached = lay_out(p, numbered(p, 1), kDead);
  CHECK(cached.table_stride == 3);
  REQUIRE(cached.table.size() == 3);
  CHECK(cached.table[0] == kAbsentPage);
  REQUIRE(cached.slots.shape == Shape{2 + kSparePages, 1, 4, 1});
  const auto page = [&](std::size_t i) {
    const double* const first = cached.slots.row(cached.table[i], 0, 0);
    return std::vector<double>(first, first + 4);
  };
  CHECK(page(1) == std::vector<double>{kDead, kDead, kDead, 7});
  CHECK(page(2) == std::vector<double>{8, 9, kDead, kDead});
}

TEST_CASE("every live key lies where a kernel looks for it and every other slot is dead") {
  RandomProblems problems(17, {130, 16});
  Index rings = 0, pages = 0, packed = 0, sinks = 0;
  for (int i = 0; i < 600; ++i) {
    Problem p = problems.next();
    const bool is_ring = i % 2 == 0;
    p.cache = paged(problems.pick({1, 2, 3, 16, 16, 64, 1000}));
    if (is_ring) {
      p.cache = ring();
      if (problems.pick({0, 1}) == 1) p.cache = ring(slots_needed(p) + problems.pick({0, 1, 7}));
    }
    CAPTURE(options(p));
    if (!complaint(p).empty()) {
      CHECK(is_ring);
      continue;
    }
    check_layout(p, p.head_dim);
    check_layout(p, p.value_dim());
    (is_ring ? rings : pages) += 1;
    packed += p.layout == Layout::packed;
    sinks += p.sinks > 0;
  }
  CHECK(rings > 100);
  CHECK(pages == 300);
  CHECK(packed > 30);
  CHECK(sinks > 100);
}

TEST_CASE("the tables of k and v are equal and drawn from the seed") {
  Problem p = decode(500, 500, paged(4));
  p.head_dim_v = 3;
  const std::vector<std::int32_t> of_k = lay_out(p, numbered(p, 1)).table;
  CHECK(of_k == lay_out(p, numbered(p, 3)).table);
  CHECK_FALSE(std::is_sorted(of_k.begin(), of_k.end()));
  // No page follows its neighbour but by chance.
  Index neighbours = 0;
  for (std::size_t i = 1; i < of_k.size(); ++i) neighbours += of_k[i] == of_k[i - 1] + 1;
  CHECK(neighbours < 10);
  p.seed = 1;
  CHECK(of_k != lay_out(p, numbered(p, 1)).table);
}

TEST_CASE("the smallest ring is as large as what the rows see and no smaller one is taken") {
  RandomProblems problems(5, {100, 16});
  Index rings = 0;
  for (int i = 0; i < 400; ++i) {
    Problem p = problems.next();
    p.sinks = 0;
    p.cache = ring();
    if (!complaint(p).empty()) continue;
    ++rings;
    CAPTURE(options(p));
    const Index needed = slots_needed(p);
    CHECK(p.ring_capacity() == needed);
    p.cache = ring(needed);
    CHECK(complaint(p) == "");
    if (needed == 1) continue;
    p.cache = ring(needed - 1);
    CHECK(complaint(p) != "");
  }
  CHECK(rings > 150);
  Problem p = decode(100, 600, ring());
  p.n_q = 8;
  CHECK(p.ring_capacity() == 107);  // W + n_q - 1
  p.n_k = 50;
  CHECK(p.ring_capacity() == 50);
}

TEST_CASE("the bytes of a cache are those of its tensors and its tables") {
  RandomProblems problems(29, {100, 16});
  for (int i = 0; i < 300; ++i) {
    Problem p = problems.next();
    if (p.has_lengths()) p.lengths_k.clear(), p.lengths_q.clear(), p.layout = Layout::padded;
    p.cache = i % 2 == 0 ? paged(problems.pick({1, 3, 16})) : ring();
    if (!complaint(p).empty()) continue;
    double bytes = 0;
    for (const Index dim : {p.head_dim, p.value_dim()}) {
      const CachedKeys cached = lay_out(p, numbered(p, dim));
      bytes += static_cast<double>(8 * cached.slots.data.size() + 4 * cached.table.size());
    }
    CHECK(cached_bytes(p) == bytes);
  }
  CHECK(cached_bytes(decode(3, 8, {})) == 0);
}

TEST_CASE("a cache that cannot hold what the rows see is refused with a sentence") {
  CHECK(complaint(decode(3, 8, ring(2)), true) ==
        "--capacity 2 is less than the 3 keys from the first to the last that rows of a sequence "
        "see | leave it out, and the ring is as small as it may be");
  Problem p = decode(3, 8, ring());
  p.window = Window::global();
  CHECK(complaint(p, true) ==
        "--cache ring holds a bounded number of keys, and a row of this mask may see any number | "
        "give a window, such as --W 100, or take --cache paged");
  for (const auto& [left, right, taken] : {std::tuple(Side::of(3), Side::unbounded(), false),
                                           std::tuple(Side::unbounded(), Side::of(3), false),
                                           std::tuple(Side::of(3), Side::of(4), true)}) {
    p.window = Window::band(left, right);
    CHECK(complaint(p).empty() == taken);
  }
  p.window = Window::chunked(4);
  CHECK(complaint(p) == "");
  p = decode(3, 8, ring());
  p.sinks = 2;
  CHECK(complaint(p, true) ==
        "--sinks 2 do not outlive a ring of 3 slots: later keys overwrite them | take --cache "
        "paged, or a ring that never wraps, --capacity 8");
  p.cache = ring(7);
  CHECK(complaint(p) != "");
  p.cache = ring(8);
  CHECK(complaint(p) == "");
  p.cache = paged(3);
  CHECK(complaint(p) == "");
  p = decode(10, 8, ring());  // the window has all sink tokens
  p.sinks = 2;
  CHECK(complaint(p) == "");
  // A batch has a ring for each sequence, of the longest one's size.
  p = decode(4, 9, ring());
  p.batch = 3;
  p.lengths_k = {2, 9, 0};
  CHECK(complaint(p) == "");
  CHECK(p.ring_capacity() == 4);
}

TEST_CASE("sizes at the borders of a cache are answered or refused") {
  Problem p = decode(5, kMaxIndex, ring(kMaxIndex));
  CHECK(complaint(p) == "");
  CHECK(p.ring_capacity() == kMaxIndex);
  p.batch = kMaxIndex;
  p.heads_q = p.heads_kv = kMaxIndex;
  CHECK(cached_bytes(p) > 1e50);
  p.cache = paged(kMaxIndex);
  p.batch = 1;
  CHECK(complaint(p) == "");
  CHECK(cached_bytes(p) > 1e30);
  p = decode(kMaxIndex, kMaxIndex, paged(1));
  CHECK(complaint(p, true) ==
        "--page 1 makes more pages than a block table of 32 bits can name | give a larger page");
  p.cache = paged(Index{1} << 30);
  CHECK(complaint(p) == "");
  p.batch = 2;
  CHECK(complaint(p) != "");
  p = decode(5, kMaxIndex, paged(1));
  CHECK(complaint(p) == "");
}

TEST_CASE("a problem prints its cache defaults left out") {
  CHECK(options(decode(3, 8, ring())) == "--W 3 --nq 1 --nk 8 --head-dim 1 --cache ring");
  CHECK(options(decode(3, 8, ring(3))) == "--W 3 --nq 1 --nk 8 --head-dim 1 --cache ring");
  CHECK(options(decode(3, 8, ring(4))) ==
        "--W 3 --nq 1 --nk 8 --head-dim 1 --cache ring --capacity 4");
  CHECK(options(decode(3, 8, paged(16))) == "--W 3 --nq 1 --nk 8 --head-dim 1 --cache paged");
  CHECK(options(decode(3, 8, paged(1))) ==
        "--W 3 --nq 1 --nk 8 --head-dim 1 --cache paged --page 1");
}

TEST_CASE("each kind of cache has its capacities or its pages") {
  using Kinds = std::vector<CacheKind>;
  using Layouts = std::vector<CacheLayout>;
  const auto contiguous = CacheKind::contiguous;
  CHECK(decide_caches({}) == Layouts{{}});
  CHECK(decide_caches({Kinds{CacheKind::ring}, {7, 9}, {}}) == Layouts{ring(7), ring(9)});
  CHECK(decide_caches({Kinds{contiguous, CacheKind::paged, CacheKind::ring}, {}, {1, 16}}) ==
        Layouts{{}, paged(1), paged(16), ring()});
  CHECK_THROWS_WITH_AS(decide_caches({{}, {7}, {}}),
                       "--capacity belongs to a ring cache, and --cache asks for none", UsageError);
  CHECK_THROWS_WITH_AS(decide_caches({Kinds{CacheKind::ring}, {}, {16}}),
                       "--page belongs to a paged cache, and --cache asks for none", UsageError);
  for (const std::string& word : cache_words()) CHECK(name(*parse_cache(word)) == word);
  CHECK(cache_words().size() == 3);
  CHECK_FALSE(parse_cache("full"));
}
