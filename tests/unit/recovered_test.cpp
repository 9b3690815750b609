#include "verify/recovered.hpp"

#include <doctest/doctest.h>

#include "kernels.hpp"

using namespace swa;

namespace {

using Lines = std::vector<std::string>;

Problem windowed(Index n_q, Index n_k, Window window) {
  Problem p;
  p.n_q = n_q;
  p.n_k = n_k;
  p.window = window;
  p.head_dim = 64;
  return p;
}

Lines described(const Problem& p, const FaultSet& planted = {}, std::size_t most = 16) {
  return describe_mask(p, probe(planted_kernel(p, {16, 16}, planted), p), most);
}

Lines described(const Problem& p, const Times& times, std::size_t most = 16) {
  return describe_mask(p, probe(toy_kernel(times), p), most);
}

}  // namespace

TEST_CASE("a mask in words: a window in a square and in a chunk") {
  CHECK(described(windowed(500, 500, Window::causal(100))) ==
        Lines{"rows 0..99: keys 0..r", "rows 100..499: 100 keys ending at r"});
  CHECK(described(windowed(96, 600, Window::causal(100))) ==
        Lines{"rows 0..95: 100 keys ending at r + 504"});
  CHECK(described(windowed(30, 30, Window::global())) == Lines{"rows 0..29: keys 0..r"});
  CHECK(described(windowed(1, 30, Window::causal(4))) == Lines{"row 0: keys 26..29"});
  CHECK(described(windowed(1, 30, Window::causal(1))) == Lines{"row 0: key 29"});
  CHECK(described(windowed(30, 30, Window::causal(1))) == Lines{"rows 0..29: 1 key ending at r"});
}

TEST_CASE("a mask in words: bands and rows without keys") {
  CHECK(described(windowed(20, 20, Window::band(Side::of(2), Side::of(3)))) ==
        Lines{"rows 0..2: keys 0..r + 3", "rows 3..16: 6 keys ending at r + 3",
              "rows 17..19: keys r - 2..19"});
  CHECK(described(windowed(20, 20, Window::band(Side::unbounded(), Side::unbounded()))) ==
        Lines{"rows 0..19: keys 0..19"});
  CHECK(
      described(windowed(10, 4, Window::causal(2))) ==
      Lines{"rows 0..5: no key", "rows 6..7: keys 0..r - 6", "rows 8..9: 2 keys ending at r - 6"});
  CHECK(described(windowed(8, 8, Window::chunked(4))) ==
        Lines{"rows 0..3: keys 0..r", "rows 4..7: keys 4..r"});
}

TEST_CASE("a mask in words: sink tokens and keys that count twice") {
  Problem p = windowed(60, 60, Window::causal(16));
  p.sinks = 4;
  CHECK(described(p) ==
        Lines{"rows 0..19: keys 0..r", "rows 20..59: keys 0..3 and 16 keys ending at r"});
  p.sinks = 1;
  CHECK(described(p).back() == "rows 17..59: key 0 and 16 keys ending at r");
  p = windowed(2, 40, Window::global());
  CHECK(described(p, {&fault("split-counted-twice")}) ==
        Lines{"rows 0..1: keys 0..34 and keys 35..r + 38 (2 times)"});
}

TEST_CASE("a mask in words: rows of their own") {
  const Problem p = windowed(30, 30, Window::causal(9));
  CHECK(described(p, [](const Mask& m, Index, Index row,
                        Index key) { return sees(m, row, key) && !(row == 20 && key == 15); }) ==
        Lines{"rows 0..8: keys 0..r", "rows 9..19: 9 keys ending at r",
              "row 20: keys 12..14 and keys 16..20", "rows 21..29: 9 keys ending at r"});
  const Kernel odd = with(toy_kernel(), [](const Problem&, const Inputs&, Attention& got) {
    got.out.row(0, 0, 10)[0] = kUnwritten;
    got.out.row(0, 0, 11)[0] = std::numeric_limits<double>::quiet_NaN();
    got.out.row(0, 0, 12)[0] = -1;
  });
  CHECK(describe_mask(p, probe(odd, p)) == Lines{"rows 0..8: keys 0..r", "row 9: keys 1..9",
                                                 "row 10: never written", "row 11: NaN or infinite",
                                                 "row 12: elements of k in place of v",
                                                 "rows 13..29: 9 keys ending at r"});
}

TEST_CASE("a mask in words: heads that differ and heads that are alike") {
  Problem p = windowed(20, 20, Window::causal(5));
  p.heads_q = p.heads_kv = 4;
  p.batch = 2;
  CHECK(described(p, times_seen) ==
        Lines{"rows 0..4: keys 0..r", "rows 5..19: 5 keys ending at r"});
  CHECK(described(p, [](const Mask& m, Index head, Index row,
                        Index key) { return sees(m, row, key) && !(head == 2 && key == row); }) ==
        Lines{"batch 0, head 0, and 5 more alike:", "rows 0..4: keys 0..r",
              "rows 5..19: 5 keys ending at r", "batch 0, head 2, and 1 more alike:",
              "row 0: no key", "rows 1..4: keys 0..r - 1", "rows 5..19: 4 keys ending at r - 1"});
}

TEST_CASE("a mask in words has a limit on its lines") {
  const Problem p = windowed(30, 30, Window::causal(9));
  const auto every_other = [](const Mask& m, Index, Index row, Index key) {
    return sees(m, row, key) && (row % 2 == 0 || key != row);
  };
  const Lines all = described(p, every_other, 100), some = described(p, every_other, 5);
  REQUIRE(all.size() > 10);
  REQUIRE(some.size() == 6);
  CHECK(std::equal(some.begin(), some.begin() + 5, all.begin()));
  CHECK(some.back() == "... and " + std::to_string(all.size() - 5) + " more lines");
  CHECK(described(p, every_other, all.size()) == all);
}

TEST_CASE("rows of padding and sampled rows in words") {
  Problem p = windowed(10, 10, Window::causal(3));
  p.batch = 2;
  p.lengths_q = p.lengths_k = {10, 4};
  CHECK(described(p) == Lines{"batch 0, head 0:", "rows 0..2: keys 0..r",
                              "rows 3..9: 3 keys ending at r",
                              "batch 1, head 0:", "rows 0..2: keys 0..r", "row 3: keys 1..3"});
  p = windowed(100, 100, Window::causal(10));
  const Probe some = probe(planted_kernel(p, {16, 16}, {}), p, {3, 50, 51, 99});
  CHECK(describe_mask(p, some) ==
        Lines{"row 3: keys 0..3", "rows 50..51: 10 keys ending at r", "row 99: keys 90..99"});
}

TEST_CASE("a wrong pair names head and batch where there are several") {
  Problem p = windowed(10, 10, Window::causal(3));
  const WrongPair pair{1, 2, 5, 4, 1, 0};
  CHECK(describe(pair, p) == "row 5, key 4: not attended and should be");
  p.heads_q = p.heads_kv = 4;
  CHECK(describe(pair, p) == "head 2, row 5, key 4: not attended and should be");
  p.batch = 2;
  CHECK(describe(pair, p) == "batch 1, head 2, row 5, key 4: not attended and should be");
}

TEST_CASE("of many wrong pairs the first few are named and all are counted") {
  const Problem p = windowed(30, 30, Window::causal(9));
  const MaskComparison mask =
      compare_mask(p, probe(planted_kernel(p, {16, 16}, {&fault("window-one-too-wide")}), p));
  CHECK(mask.extra == 21);
  CHECK(mask.missing + mask.repeated == 0);
  REQUIRE(mask.first.size() == kMostNamed);
  for (std::size_t i = 0; i < kMostNamed; ++i) {
    CHECK(mask.first[i].row == static_cast<Index>(i) + 9);
    CHECK(mask.first[i].key == static_cast<Index>(i));
  }
}
