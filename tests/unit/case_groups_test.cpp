// Which cases of a sweep run side by side.
#include <doctest/doctest.h>

#include <vector>

#include "commands/case_groups.hpp"

using namespace swa;
using namespace swa::commands;

namespace {

std::vector<Case> cases_of(const std::vector<Index>& sizes) {
  std::vector<Case> cases;
  for (const Index n : sizes) {
    Case c;
    c.problem.n_q = c.problem.n_k = n;
    cases.push_back(c);
  }
  return cases;
}

double bytes_of(const Problem& p) {
  return static_cast<double>(p.n_k);
}

std::vector<std::size_t> sizes_of(const std::vector<CaseGroup>& groups) {
  std::vector<std::size_t> sizes;
  std::size_t next = 0;
  for (const CaseGroup& group : groups) {
    CHECK(group.begin == next);  // in order, nothing left out
    next = group.end;
    sizes.push_back(group.size());
  }
  return sizes;
}

}  // namespace

TEST_CASE("small cases share a group and large ones run alone") {
  const auto sizes = [](const std::vector<Index>& list, double spare, Index threads) {
    return sizes_of(group_cases(cases_of(list), bytes_of, spare, threads));
  };
  using Sizes = std::vector<std::size_t>;
  CHECK(sizes({}, 1e9, 2) == Sizes{});
  CHECK(sizes({8, 9, 10}, 1e9, 2) == Sizes{3});
  CHECK(sizes({8, 8192, 9, 10, 8192, 8192}, 1e9, 2) == Sizes{1, 1, 2, 1, 1});
  // Two of 600 do not fit into 1000 together.
  CHECK(sizes({500, 500, 600, 400}, 1000, 2) == Sizes{2, 1, 1});
  CHECK(sizes({500, 500, 600, 400}, 1000, 1) == Sizes{4});
  CHECK(sizes({8, 9, 10}, 0, 2) == Sizes{1, 1, 1});
}

TEST_CASE("groups run every case once") {
  std::vector<int> calls(7);
  const std::vector<CaseGroup> groups{{0, 3}, {3, 4}, {4, 7}};
  run_groups(groups, [&](std::size_t i) { ++calls[i]; });
  CHECK(calls == std::vector<int>(7, 1));
}
