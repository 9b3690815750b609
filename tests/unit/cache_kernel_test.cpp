// Kernels that read a ring or pages are judged like any other: right ones pass every check, wrong
// ones do not.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "error.hpp"
#include "problem/cache_layout.hpp"
#include "problem/random_problems.hpp"
#include "verify/judge.hpp"

using namespace swa;

namespace {

// The entry and the slot of a key, as a kernel understands the cache.
struct Place {
  Index entry = 0, slot = 0;
};
using Find = std::function<Place(const Problem&, const CachedKeys&, Index sequence, Index key)>;

Place find(const Problem& p, const CachedKeys& cached, Index sequence, Index key) {
  if (p.cache.kind == CacheKind::ring) return {sequence, key % p.ring_capacity()};
  const Index at = sequence * cached.table_stride + key / p.cache.page;
  return {cached.table[static_cast<std::size_t>(at)], key % p.cache.page};
}

// The keys that rows see, out of the cache; NaN for what lies outside of it.
Tensor<double> gathered(const Problem& p, const Tensor<double>& logical, const Find& find_key) {
  const CachedKeys cached = lay_out(p, logical);
  const Shape& shape = cached.slots.shape;
  Tensor<double> keys(logical.shape);
  const std::vector<Sequence> all = sequences(p);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [sinks, band] = keys_seen(all[i].mask);
    for (const KeyRange& range : {sinks, band}) {
      for (Index key = range.begin; key < range.end; ++key) {
        const Place place = find_key(p, cached, static_cast<Index>(i), key);
        const bool inside = place.entry < shape.batch && place.slot < shape.tokens;
        for (Index h = 0; h < shape.heads; ++h) {
          double* const to = keys.row(all[i].batch, h, all[i].k_row + key);
          if (inside) {
            std::copy_n(cached.slots.row(place.entry, h, place.slot), shape.dim, to);
          } else {
            std::fill_n(to, shape.dim, kUnwritten);
          }
        }
      }
    }
  }
  return keys;
}

Kernel cache_kernel(const Find& find_key) {
  Kernel kernel = cpu_kernels({64, 64}).front();
  kernel.name = "cache";
  kernel.unsupported = [](const Problem&) { return std::nullopt; };
  kernel.run = [run = kernel.run, find_key](const Problem& p, const Inputs& inputs,
                                            Attention& outputs) {
    run(p,
        {inputs.q, gathered(p, inputs.k, find_key), gathered(p, inputs.v, find_key),
         inputs.sink_logits},
        outputs);
  };
  return kernel;
}

Verdict judged(const Kernel& kernel, const Problem& p) {
  const Inputs inputs = make_inputs(p);
  return judge(kernel, p, inputs, oracle(p, inputs),
               {Checks::When::always, Checks::When::always, false});
}

Problem decode(CacheLayout cache) {
  Problem p;
  p.batch = 2;
  p.n_q = 3;
  p.n_k = 90;
  p.lengths_k = {90, 61};
  p.window = Window::causal(20);
  p.head_dim = 8;
  p.cache = cache;
  return p;
}

const CacheLayout kRing{CacheKind::ring, 30}, kPaged{CacheKind::paged, {}, 4};

}  // namespace

TEST_CASE("a kernel that reads the cache rightly passes the numbers and the probe and the poison") {
  RandomProblems problems(71, {70, 16});
  Index rings = 0, pages = 0, dead = 0;
  for (int i = 0; i < 120; ++i) {
    Problem p = problems.next();
    p.cache = i % 2 == 0 ? CacheLayout{CacheKind::ring}
                         : CacheLayout{CacheKind::paged, {}, problems.pick({1, 4, 16})};
    try {
      validate(p);
    } catch (const UsageError&) {
      continue;
    }
    CAPTURE(options(p));
    const Verdict verdict = judged(cache_kernel(find), p);
    CHECK(verdict.status != Status::fail);
    CHECK(verdict.output.pass());
    REQUIRE(verdict.mask);
    CHECK(verdict.mask->exact());
    REQUIRE(verdict.poison);
    CHECK(verdict.poison->dead.clean());
    (i % 2 == 0 ? rings : pages) += 1;
    dead += verdict.poison->dead.keys > 0;
  }
  CHECK(rings > 15);
  CHECK(pages == 60);
  CHECK(dead > 20);
}

TEST_CASE("a kernel that takes a wrong slot or a wrong page fails") {
  CHECK(judged(cache_kernel(find), decode(kRing)).status == Status::pass);
  CHECK(judged(cache_kernel(find), decode(kPaged)).status == Status::pass);
  const auto wrong = [](const CacheLayout& cache, const Find& find_key) {
    return judged(cache_kernel(find_key), decode(cache)).status == Status::fail;
  };
  // Keys by their position, and by a ring as wide as the window.
  CHECK(wrong(kRing, [](const Problem&, const CachedKeys&, Index s, Index key) {
    return Place{s, key};
  }));
  CHECK(wrong(kRing, [](const Problem&, const CachedKeys&, Index s, Index key) {
    return Place{s, key % 20};
  }));
  // The first sequence's ring and table for all.
  for (const CacheLayout& cache : {kRing, kPaged}) {
    CHECK(wrong(cache, [](const Problem& p, const CachedKeys& cached, Index, Index key) {
      return find(p, cached, 0, key);
    }));
  }
  // Pages in the order of the keys, and a page too early.
  CHECK(wrong(kPaged, [](const Problem& p, const CachedKeys&, Index, Index key) {
    return Place{key / p.cache.page, key % p.cache.page};
  }));
  CHECK(wrong(kPaged, [](const Problem& p, const CachedKeys& cached, Index s, Index key) {
    return find(p, cached, s, larger(0, key - p.cache.page));
  }));
}
