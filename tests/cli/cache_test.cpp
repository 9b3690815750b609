// The layout of the cache on the command line: a part of the problem, which kernels that read
// contiguous keys refuse.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/files.hpp"

using namespace swa::test;
using nlohmann::json;
using std::string;
using std::vector;

namespace {

const string kDecode = "verify --nq 1 --nk 60 --W 10 --head-dim 8 ";

json records_of(const string& line) {
  const Finished run = run_swa(line + " --format json");
  INFO("stderr: ", run.err);
  REQUIRE(run.status == 0);
  return json::parse(run.out)["records"];
}

}  // namespace

TEST_CASE("cache: every kernel that reads contiguous keys says so of a ring and of pages") {
  const string kernels =
      " --kernel cpu-tiled,planted:window-one-too-wide,plugin:" SWA_PLUGINS "/libreference.so";
  for (const string kind : {"ring", "paged"}) {
    const json records = records_of(kDecode + "--cache " + kind + kernels);
    REQUIRE(records.size() == 3);
    for (const json& record : records) {
      CAPTURE(record.dump());
      CHECK(record["status"] == "unsupported");
      CHECK(record["reason"] == "reads contiguous keys, no " + kind + " cache");
    }
  }
  CHECK(records_of(kDecode + "--cache contiguous")[0]["status"] == "pass");
}

TEST_CASE("cache: a list of layouts is a list of problems and each repeats itself") {
  const json records = records_of(
      kDecode + "--cache contiguous,ring,paged --capacity 10,64 --page 1,16 --kernel cpu-tiled");
  const vector<string> expected{"", " --cache ring", " --cache ring --capacity 64",
                                " --cache paged --page 1", " --cache paged"};
  REQUIRE(records.size() == expected.size());
  const string problem = "swa verify --W 10 --nq 1 --nk 60 --head-dim 8";
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(records[i]["repro"] == problem + expected[i] + " --kernel cpu-tiled");
  }
  CHECK(records[0]["cache"] == "contiguous");
  CHECK(records[0]["capacity"].is_null());
  CHECK(records[0]["page"].is_null());
  CHECK(records[1]["cache"] == "ring");
  CHECK(records[1]["capacity"] == 10);
  CHECK(records[1]["page"].is_null());
  CHECK(records[2]["capacity"] == 64);
  CHECK(records[3]["cache"] == "paged");
  CHECK(records[3]["page"] == 1);
  CHECK(records[3]["capacity"].is_null());
  CHECK(records[4]["page"] == 16);
}

TEST_CASE("cache: people see its columns where some problem has one that is not contiguous") {
  const auto header = [](const string& line) {
    const vector<string> all = lines(run_swa(line + " --kernel cpu-tiled").out);
    for (const string& one : all) {
      if (one.starts_with("kernel ")) return one;
    }
    return string();
  };
  const auto shows = [](const string& line, const string& column) {
    return contains(line, " " + column + " ");
  };
  const string none = header(kDecode), ring = header(kDecode + "--cache ring,contiguous"),
               pages = header(kDecode + "--cache paged");
  REQUIRE_FALSE(none.empty());
  CHECK_FALSE(shows(none, "cache"));
  CHECK_FALSE(shows(none, "capacity"));
  CHECK_FALSE(shows(none, "page"));
  CHECK(shows(ring, "cache"));
  CHECK(shows(ring, "capacity"));
  CHECK_FALSE(shows(ring, "page"));
  CHECK(shows(pages, "cache"));
  CHECK(shows(pages, "page"));
  CHECK_FALSE(shows(pages, "capacity"));
}

TEST_CASE("cache: export keeps the layout in its cases and check judges no output of another") {
  const Scratch scratch;
  const string root = exported(
      scratch, "--nq 1 --nk 60 --W 10 --cache contiguous,ring,paged --capacity 64 --page 4");
  const vector<swa::Case> cases = swa::read_cases(root + "/cases.toml");
  REQUIRE(cases.size() == 3);
  CHECK(cases[0].problem.cache == swa::CacheLayout{});
  CHECK(cases[1].problem.cache == swa::CacheLayout{swa::CacheKind::ring, 64});
  CHECK(cases[2].problem.cache == swa::CacheLayout{swa::CacheKind::paged, {}, 4});
  answer(root);
  const json records = records_of("verify check " + root);
  REQUIRE(records.size() == 3);
  CHECK(records[0]["status"] == "pass");
  CHECK(records[1]["reason"] == "reads contiguous keys, no ring cache");
  CHECK(records[2]["reason"] == "reads contiguous keys, no paged cache");
  const string one = root + "/" + cases[0].name + "/o.npy";
  const string stated = "verify --nq 1 --nk 60 --W 10 --output " + one;
  CHECK(records_of(stated)[0]["status"] == "pass");
  CHECK(records_of(stated + " --cache ring")[0]["status"] == "unsupported");
}
