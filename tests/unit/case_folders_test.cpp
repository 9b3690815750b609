// Names of cases, made into names of folders.
#include "commands/case_folders.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

using namespace swa;
using namespace swa::commands;

TEST_CASE("names of folders stay apart, also from those that look as if numbered") {
  std::vector<Case> cases;
  for (const char* name : {"a b", "a-b", "a,b", "a-b-2", "a-b-3", "a-b"}) {
    cases.push_back({name, {}});
  }
  std::vector<std::string> names;
  for (const Case& c : name_folders(cases)) names.push_back(c.name);
  CHECK(names == std::vector<std::string>{"a-b", "a-b-2", "a-b-3", "a-b-2-2", "a-b-3-2", "a-b-4"});
}

// As many as a case file may have; counting up from 2 for each of them takes a quarter of an hour.
TEST_CASE("a hundred thousand names that come to the same are told apart in no time") {
  const std::vector<Case> cases(100'000, Case{std::string(80, 'x') + "...", {}});
  const auto begin = std::chrono::steady_clock::now();
  std::set<std::string> names;
  for (const Case& c : name_folders(cases)) names.insert(c.name);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  CHECK(names.size() == cases.size());
  CHECK(seconds.count() < 20);
}
