#include "verify/probe.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "error.hpp"
#include "kernels.hpp"
#include "problem/random_problems.hpp"
#include "verify/recovered.hpp"

using namespace swa;

namespace {

constexpr std::array kDtypes{Dtype::fp64, Dtype::fp32, Dtype::bf16, Dtype::fp16};
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Problem windowed(Index n_q, Index n_k, Index W, Dtype dtype = Dtype::bf16) {
  Problem p;
  p.n_q = n_q;
  p.n_k = n_k;
  p.window = Window::causal(W);
  p.head_dim = 8;
  p.dtype = dtype;
  return p;
}

MaskComparison compared(const Kernel& kernel, const Problem& p) {
  return compare_mask(p, probe(kernel, p));
}

const ProbedRow& row_of(const Probe& found, Index batch, Index head, Index row) {
  for (const ProbedRow& r : found.rows) {
    if (r.batch == batch && r.head == head && r.row == row) return r;
  }
  throw std::logic_error("the row was not probed");
}

bool same(const Probe& a, const Probe& b) {
  if (a.rows.size() != b.rows.size() || a.heads.size() != b.heads.size()) return false;
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    const ProbedRow &x = a.rows[i], &y = b.rows[i];
    if (x.row != y.row || x.keys != y.keys || x.nan != y.nan || x.unwritten != y.unwritten ||
        x.from_k != y.from_k || x.uneven != y.uneven || x.weight != y.weight) {
      return false;
    }
  }
  for (std::size_t i = 0; i < a.heads.size(); ++i) {
    if (a.heads[i].sources != b.heads[i].sources) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the probe of the right kernel is exact on problems of every kind in every dtype") {
  RandomProblems problems(21, {130, 16});
  for (int i = 0; i < 240; ++i) {
    Problem p = problems.next();
    p.dtype = kDtypes[static_cast<std::size_t>(i) % 4];
    CAPTURE(options(p));
    const Kernel kernel = planted_kernel(p, {16, 16}, {});
    const Probe found = probe(kernel, p);
    const MaskComparison mask = compare_mask(p, found);
    CHECK(mask.exact());
    Index rows = 0;
    for (const Sequence& s : sequences(p)) rows += s.mask.n_q * p.heads_q;
    CHECK(mask.rows == rows);
    CHECK(mask.pairs == static_cast<Index>(visible_pairs_of(p)));
    CHECK(found.all_rows);
    CHECK(found.launches == probe_launches(p, {}));
    CHECK(same(found, probe(kernel, p, {}, true)));
  }
}

TEST_CASE("the probe of an independent kernel is exact") {
  RandomProblems problems(22, {40, 16});
  for (int i = 0; i < 120; ++i) {
    Problem p = problems.next();
    if (p.has_lengths()) continue;
    p.dtype = kDtypes[static_cast<std::size_t>(i) % 4];
    CAPTURE(options(p));
    CHECK(compared(toy_kernel(), p).exact());
  }
}

TEST_CASE("a hole in one row is found") {
  const Problem p = windowed(30, 30, 9);
  const MaskComparison mask = compared(toy_kernel([](const Mask& m, Index, Index row, Index key) {
                                         return sees(m, row, key) && !(row == 20 && key == 15);
                                       }),
                                       p);
  CHECK(mask.missing == 1);
  CHECK(mask.extra + mask.repeated == 0);
  CHECK(mask.rows_with_other_weights == 0);  // the others share the row evenly
  REQUIRE(mask.first.size() == 1);
  CHECK(mask.first[0].row == 20);
  CHECK(mask.first[0].key == 15);
  CHECK(describe(mask.first[0], p) == "row 20, key 15: not attended and should be");
}

TEST_CASE("a key too many is found wherever it is") {
  for (const Index key : {Index{0}, Index{13}, Index{29}}) {
    const Problem p = windowed(4, 30, 3);
    const auto one_more = [key](const Mask& m, Index, Index row, Index k) {
      return sees(m, row, k) || (row == 1 && k == key);
    };
    const Probe found = probe(toy_kernel(one_more), p);
    const MaskComparison mask = compare_mask(p, found);
    CHECK(mask.extra == 1);
    REQUIRE(mask.first.size() == 1);
    CHECK(mask.first[0].key == key);
    CHECK(describe(mask.first[0], p) ==
          "row 1, key " + std::to_string(key) + ": attended and should not be");
    CHECK(same(found, probe(toy_kernel(one_more), p, {}, true)));
  }
}

TEST_CASE("a key that counts twice is found") {
  for (const Dtype dtype : kDtypes) {
    const Problem p = windowed(30, 30, 9, dtype);
    const MaskComparison mask =
        compared(toy_kernel([](const Mask& m, Index, Index row, Index key) {
                   return times_seen(m, 0, row, key) * (row == 20 && key == 15 ? 2 : 1);
                 }),
                 p);
    CHECK(mask.repeated == 1);
    CHECK(mask.extra + mask.missing == 0);
    REQUIRE(mask.first.size() == 1);
    CHECK(mask.first[0].got == 2);
    CHECK(describe(mask.first[0], p) == "row 20, key 15: counted 2 times");
  }
}

TEST_CASE("keys of uneven weight are found without an lse too") {
  for (const Dtype dtype : kDtypes) {
    const Problem p = windowed(200, 200, 150, dtype);
    const auto heavier = [](const Mask& m, Index, Index row, Index key) {
      return times_seen(m, 0, row, key) * (row == 180 && key == 160 ? 1.2 : 1);
    };
    const auto drop_lse = [](const Problem&, const Inputs&, Attention& got) {
      got.lse.data.clear();
    };
    for (const Kernel& kernel : {toy_kernel(heavier), with(toy_kernel(heavier), drop_lse)}) {
      const MaskComparison mask = compared(kernel, p);
      CHECK(mask.extra + mask.missing + mask.repeated == 0);
      CHECK(mask.rows_with_other_weights == 1);
    }
  }
}

TEST_CASE("rows that are not written NaN or infinite are told apart") {
  const Problem p = windowed(30, 30, 9);
  const Kernel kernel = with(toy_kernel(), [](const Problem&, const Inputs&, Attention& got) {
    got.out.row(0, 0, 3)[5] = kUnwritten;
    got.out.row(0, 0, 4)[0] = kNan;
    got.out.row(0, 0, 5)[7] = std::numeric_limits<double>::infinity();
  });
  const Probe found = probe(kernel, p);
  CHECK(row_of(found, 0, 0, 3).unwritten);
  CHECK_FALSE(row_of(found, 0, 0, 3).nan);
  CHECK(row_of(found, 0, 0, 4).nan);
  CHECK(row_of(found, 0, 0, 5).nan);
  const MaskComparison mask = compare_mask(p, found);
  CHECK(mask.unwritten_rows == 1);
  CHECK(mask.nan_rows == 2);
  CHECK(mask.extra + mask.missing + mask.repeated == 0);
  CHECK_FALSE(mask.exact());
}

TEST_CASE("rows that see no key and are not written or NaN are found") {
  const Problem p = windowed(12, 3, 2);  // rows 0 to 8 see nothing
  for (const char* name : {"empty-row-not-written", "empty-row-nan", "empty-row-finite-lse"}) {
    CAPTURE(name);
    const MaskComparison mask = compared(planted_kernel(p, {16, 16}, {&fault(name)}), p);
    CHECK_FALSE(mask.exact());
    CHECK(mask.extra + mask.missing + mask.repeated == 0);
    CHECK(mask.unwritten_rows + mask.nan_rows + mask.rows_with_other_weights == 9);
  }
}

TEST_CASE("k that is read as v is found") {
  const Problem p = windowed(30, 30, 9);
  Kernel kernel = toy_kernel();
  kernel.run = [run = kernel.run](const Problem& problem, const Inputs& in, Attention& got) {
    Inputs wrong = in;
    wrong.v = in.k;
    run(problem, wrong, got);
  };
  const MaskComparison mask = compared(kernel, p);
  CHECK(mask.rows_from_k == 30);
  CHECK_FALSE(mask.exact());
}

TEST_CASE("swapped heads are found by the values that reach them") {
  Problem p = windowed(10, 10, 4);
  p.heads_q = 4;
  p.heads_kv = 2;
  p.batch = 2;
  Kernel kernel = toy_kernel();
  kernel.run = [run = kernel.run](const Problem& problem, const Inputs& in, Attention& got) {
    Inputs wrong = in;
    for (Index b = 0; b < 2; ++b) {
      for (Index h = 0; h < 2; ++h) {
        for (Index t = 0; t < 10; ++t) {
          std::copy_n(in.v.row(b, 1 - h, t), 8, wrong.v.row(b, h, t));
        }
      }
    }
    run(problem, wrong, got);
  };
  const Probe found = probe(kernel, p);
  REQUIRE(found.heads.size() == 8);
  for (const ProbedHead& h : found.heads) {
    REQUIRE(h.sources.size() == 1);
    CHECK(h.sources[0] == std::pair(h.batch, 1 - h.head / 2));
  }
  const MaskComparison mask = compare_mask(p, found);
  CHECK(mask.wrong_heads == 8);
  CHECK(mask.extra + mask.missing + mask.repeated + mask.rows_with_other_weights == 0);
  CHECK_FALSE(mask.exact());
}

TEST_CASE("more heads than elements of v are told apart") {
  Problem p = windowed(3, 5, 2);
  p.heads_q = p.heads_kv = 5;
  p.head_dim_v = 2;
  p.batch = 2;
  const Probe found = probe(toy_kernel(), p);
  CHECK(compare_mask(p, found).exact());
  CHECK(found.launches == probe_launches(p, {}));
  for (const ProbedHead& h : found.heads) {
    REQUIRE(h.sources.size() == 1);
    CHECK(h.sources[0] == std::pair(h.batch, h.head));
  }
}

TEST_CASE("a wrong lse and weights that do not sum to 1 are found") {
  const Problem p = windowed(30, 30, 9, Dtype::fp32);
  const auto edited = [&](auto edit) { return compared(with(toy_kernel(), edit), p); };
  const MaskComparison lse =
      edited([](const Problem&, const Inputs&, Attention& got) { got.lse.data[7] += 1e-3; });
  CHECK(lse.rows_with_other_weights == 1);
  CHECK(lse.extra + lse.missing + lse.repeated == 0);
  const MaskComparison sum = edited([](const Problem&, const Inputs&, Attention& got) {
    for (Index d = 0; d < 8; ++d) got.out.row(0, 0, 12)[d] *= 1.01;
  });
  CHECK(sum.rows_with_other_weights == 1);
  CHECK(sum.extra + sum.missing + sum.repeated == 0);
  const MaskComparison base2 = edited([](const Problem&, const Inputs&, Attention& got) {
    for (double& x : got.lse.data) x /= std::log(2.0);
  });
  CHECK(base2.rows_with_other_weights == 29);  // row 0 has ln(1) = 0
  const MaskComparison none =
      edited([](const Problem&, const Inputs&, Attention& got) { got.lse.data.clear(); });
  CHECK(none.exact());  // a kernel need not return it
}

TEST_CASE("a sink logit that is left out shows in the weights") {
  Problem p = windowed(30, 30, 9);
  p.sink_logits = true;
  CHECK(compared(toy_kernel(), p).exact());
  const MaskComparison mask =
      compared(planted_kernel(p, {16, 16}, {&fault("sink-logit-missing")}), p);
  CHECK(mask.rows_with_other_weights == 30);
  CHECK(mask.extra + mask.missing + mask.repeated == 0);
}

TEST_CASE("sampled rows take fewer launches and are recovered rightly") {
  const Problem p = windowed(600, 600, 40);
  const Kernel kernel = planted_kernel(p, {64, 64}, {});
  const std::vector<Index> rows = sampled_rows(p, 12);
  REQUIRE(rows.size() == 12);
  CHECK(std::is_sorted(rows.begin(), rows.end()));
  for (const Index row : {Index{0}, Index{39}, Index{40}, Index{599}}) {
    CHECK(std::find(rows.begin(), rows.end(), row) != rows.end());
  }
  const Probe all = probe(kernel, p), some = probe(kernel, p, rows);
  CHECK(some.launches < all.launches / 2);
  CHECK(some.launches == probe_launches(p, rows));
  CHECK_FALSE(some.all_rows);
  REQUIRE(some.rows.size() == 12);
  for (const ProbedRow& row : some.rows) {
    CHECK(row.keys == row_of(all, 0, 0, row.row).keys);
    CHECK(row.keys == runs_of(keys_of_row(p.mask(), row.row)));
  }
  CHECK(compare_mask(p, some).exact());
  CHECK(sampled_rows(p, 600).size() == 600);
  CHECK(sampled_rows(p, 1) == std::vector<Index>{0});
}

TEST_CASE("sampled rows show keys that none of them should see") {
  const Problem p = windowed(600, 600, 40);
  const std::vector<Index> rows{300, 301};  // they see keys 261 to 301
  for (const Index key : {Index{0}, Index{260}, Index{599}}) {
    const Kernel kernel = toy_kernel([key](const Mask& m, Index, Index row, Index k) {
      return sees(m, row, k) || (row == 301 && k == key);
    });
    const MaskComparison mask = compare_mask(p, probe(kernel, p, rows));
    CHECK(mask.extra == 1);
    CHECK(mask.missing == 0);
    REQUIRE(mask.first.size() == 1);
    CHECK(mask.first[0].row == 301);
    CHECK(mask.first[0].key == key);
    CHECK(same(probe(kernel, p, rows), probe(kernel, p, rows, true)));
  }
}

TEST_CASE("inputs of a probe of every key do not depend on the outputs") {
  Problem p = windowed(5, 60, 7);
  p.heads_q = 2;
  const auto inputs_with = [&](auto edit) {
    std::vector<Inputs> seen;
    const Kernel kernel =
        with(toy_kernel(), [&](const Problem& q, const Inputs& in, Attention& got) {
          seen.push_back(in);
          edit(q, in, got);
        });
    probe(kernel, p, {}, true);
    return seen;
  };
  const auto right = inputs_with([](const Problem&, const Inputs&, Attention&) {});
  const auto wrong = inputs_with([](const Problem&, const Inputs&, Attention& got) {
    std::fill(got.out.data.begin(), got.out.data.end(), 1.0);
  });
  REQUIRE(right.size() == wrong.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    CHECK(right[i].q.data == wrong[i].q.data);
    CHECK(right[i].k.data == wrong[i].k.data);
    CHECK(right[i].v.data == wrong[i].v.data);
  }
}

TEST_CASE("1 / n times the code stays a normal number in every dtype") {
  for (const Dtype dtype : kDtypes) {
    CAPTURE(name(dtype));
    for (const Index n : {Index{1}, Index{2}, Index{189}, Index{190}, Index{65535}}) {
      CAPTURE(n);
      REQUIRE(static_cast<double>(n) <= largest_probe(dtype));
      Problem p = windowed(1, n, n, dtype);
      p.sink_logits = true;
      double code = 0;
      Kernel look = toy_kernel();
      look.run = [&](const Problem&, const Inputs& in, Attention&) {
        code = *std::max_element(in.v.data.begin(), in.v.data.end());
        throw std::runtime_error("seen");
      };
      CHECK_THROWS_WITH(probe(look, p), "seen");
      CHECK(round_to(dtype, code) == code);
      CHECK(code == std::exp2(std::ilogb(code)));
      CHECK(code <= largest_finite(dtype));
      // A row that sees all keys, and the sink logit.
      CHECK(round_to(dtype, code / static_cast<double>(n + 1)) >= smallest_normal(dtype));
      if (n < 1000) CHECK(compared(toy_kernel(), p).exact());
    }
  }
}

TEST_CASE("more keys than a dtype tells apart are refused") {
  CHECK(largest_probe(Dtype::fp8_e4m3) == 16383);
  CHECK(largest_probe(Dtype::fp8_e5m2) == std::exp2(29) - 1);
  CHECK(largest_probe(Dtype::fp16) == std::exp2(29) - 1);
  for (const Dtype dtype : kDtypes) CHECK(largest_probe(dtype) > 1e6);
  // The rule, at the border: 2^8 is the largest power of two in e4m3, 2^-6 its smallest normal.
  CHECK(256.0 / 16384 == smallest_normal(Dtype::fp8_e4m3));
  Problem p = windowed(1, 16383, 4, Dtype::fp8_e4m3);
  CHECK(compared(planted_kernel(p, {64, 64}, {}), p).exact());
  p.n_k = 16384;
  bool called = false;
  const Kernel kernel =
      with(toy_kernel(), [&](const Problem&, const Inputs&, Attention&) { called = true; });
  CHECK_THROWS_AS(probe(kernel, p), UsageError);
  CHECK_FALSE(called);
}

TEST_CASE("what a kernel throws comes through the probe") {
  const Problem p = windowed(4, 4, 2);
  Kernel kernel = toy_kernel();
  kernel.run = [](const Problem&, const Inputs&, Attention&) { throw std::runtime_error("broke"); };
  CHECK_THROWS_WITH(probe(kernel, p), "broke");
}
