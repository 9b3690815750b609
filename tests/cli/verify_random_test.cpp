// verify --random: problems by the thousand from one seed.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/process.hpp"
#include "kernels/forward.hpp"

using nlohmann::json;
using namespace swa::test;
using std::string;
using std::vector;

namespace {

vector<json> records_of(const json& report, const string& kind) {
  vector<json> found;
  for (const json& record : report["records"]) {
    if (record["record"] == kind) found.push_back(record);
  }
  return found;
}

}  // namespace

TEST_CASE("verify --random passes a thousand problems and prints what it counted alone") {
  const Finished run = run_swa("verify --random 1000 --seed 11 --kernel cpu-tiled");
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  CHECK(lines(run.out).size() < 12);
  CHECK(contains(run.out, "1000 problems of seed 11: 1000 of 1000 passed"));
  CHECK(run.out == output("verify --random 1000 --seed 11 --kernel cpu-tiled"));

  const json report = json::parse(output("verify --random 50 --seed 11 --format json"));
  CHECK(report["schema"] == "swa.verify-random/1");
  CHECK(report["summary"]["problems"] == 50);
  CHECK(report["summary"]["seed"] == 11);
  CHECK(report["summary"]["pass"] == 50);
  REQUIRE(report["records"].size() == 1);
  CHECK(report["records"][0]["passed"] == 50);
  CHECK(report["records"][0]["repro"] == "swa verify --random 50 --seed 11 --kernel cpu-tiled");
}

TEST_CASE("a seed that verify --random drew itself draws the same problems again") {
  const json first = json::parse(output("verify --random 40 --format json"));
  const json second = json::parse(output("verify --random 40 --format json"));
  CHECK(first["summary"]["seed"] != second["summary"]["seed"]);
  const string seed = first["summary"]["seed"].dump();
  const string text = output("verify --random 40 --seed " + seed);
  CHECK(contains(text, "40 problems of seed " + seed));
}

TEST_CASE("verify --random reports every failure with a line that runs it again") {
  const Finished run = run_swa("verify --random 80 --seed 4 --kernel planted:top-left,cpu-tiled");
  CHECK(run.status == 1);
  const Finished machine =
      run_swa("verify --random 80 --seed 4 --kernel planted:top-left,cpu-tiled --format json");
  CHECK(machine.status == 1);
  const json report = json::parse(machine.out);
  const vector<json> kernels = records_of(report, "kernel");
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0]["status"] == "fail");
  CHECK(kernels[1]["status"] == "pass");
  CHECK(kernels[1]["passed"] == 80);
  const vector<json> failures = records_of(report, "failure");
  REQUIRE(failures.size() >= 5);
  CHECK(kernels[0]["failed"] == failures.size());
  CHECK(report["summary"]["fail"] == failures.size());
  for (const json& failure : failures) CHECK(contains(run.out, failure["repro"]));
  for (std::size_t i = 0; i < failures.size(); i += failures.size() / 5) {
    const string repro = failures[i]["repro"];
    CAPTURE(repro);
    const Finished again = run_swa(repro + " --format json");
    CHECK(again.status == 1);
    const json record = json::parse(again.out)["records"][0];
    for (const string key : {"n_q", "n_k", "lengths_q", "window", "left", "anchor", "scale", "seed",
                             "max_err", "worst", "mismatches", "lse_mismatches"}) {
      CAPTURE(key);
      CHECK(record[key] == failures[i][key]);
    }
  }
  CHECK(contains(run.out, "planted:top-left: the smallest of them:"));
  CHECK(contains(run.out, "planted:top-left: top-left explains 8 of the 8"));
}

TEST_CASE("verify --random finds every fault of the catalogue") {
  const string planted = kSanitized ? "planted:window-*" : "planted:*";
  const Finished run =
      run_swa("verify --random 400 --seed 7 --format json --kernel " + planted, {.timeout = 600});
  const vector<json> kernels = records_of(json::parse(run.out), "kernel");
  CHECK(kernels.size() > (kSanitized ? 3 : 60));
  for (const json& kernel : kernels) {
    CAPTURE(kernel["kernel"]);
    CHECK(kernel["failed"] > 0);
  }
}

TEST_CASE("verify --random takes the probe and the poison tests where they are asked for") {
  const json report =
      json::parse(output("verify --random 40 --seed 2 --probe --poison --format json"));
  CHECK(report["summary"]["pass"] == 40);
  const json wrong = json::parse(
      run_swa("verify --random 20 --seed 2 --probe --kernel planted:window-ignored --format json")
          .out);
  for (const json& failure : records_of(wrong, "failure")) CHECK(failure["probe"] == "wrong");
  const json numbers = json::parse(
      run_swa("verify --random 20 --seed 2 --kernel planted:window-ignored --format json").out);
  for (const json& failure : records_of(numbers, "failure")) CHECK(failure["probe"].is_null());
}

TEST_CASE("verify --random names what it cannot do") {
  for (const string arguments :
       {"--random 0", "--random 100001", "--random -3", "--random x", "--random 5,6",
        "--random 5 --nq 3", "--random 5 --W 3", "--random 5 --suite full", "--random 5 --match a",
        "--random 5 --cases a.toml", "--random 5 --kill-matrix", "--random 5 --list-faults",
        "--random 5 --q a --k b --v c", "--random 5 --seed x", "check folder --random 5"}) {
    CAPTURE(arguments);
    const Finished run = run_swa("verify " + arguments);
    CHECK(run.status == 2);
    CHECK(run.out.empty());
    CHECK(lines(run.err).size() == 2);
  }
  if (!swa::gpu_absence().empty()) {
    CHECK(run_swa("verify --random 5 --kernel portable-*").status == 3);
  }
}

TEST_CASE("verify --random lists its problems and stops at the first failure where asked") {
  const json report = json::parse(output("verify --random 7 --seed 5 --list --format json"));
  CHECK(report["records"].size() == 7);
  const Finished run =
      run_swa("verify --random 500 --seed 4 --fail-fast --kernel planted:top-left --format json");
  CHECK(run.status == 1);
  const json stopped = json::parse(run.out);
  CHECK(stopped["summary"]["fail"] == 1);
  CHECK(stopped["summary"]["left_out"] > 400);
  const string junit = run_swa("verify --random 30 --seed 4 --kernel * --format junit").out;
  CHECK(contains(junit, R"(tests="1" failures="0")"));
}
