// Long runs that a signal ends: what is known so far is a valid report, and the status is 130.
#include <doctest/doctest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <string>

#include "process.hpp"
#include "xml.hpp"

using namespace swa::test;
using nlohmann::json;
using std::string;

namespace {

constexpr double kSoon = kSanitized ? 5 : 0.7;  // seconds: the run has begun and is far from over

Finished interrupted(const string& line, int signal = SIGINT, double after = kSoon) {
  Setup setup;
  setup.signal_after = {after};
  setup.signal = signal;
  const Finished run = run_swa(line, setup);
  INFO("swa ", line);
  INFO("stderr: ", run.err);
  CHECK_FALSE(run.timed_out);
  CHECK(run.status == 130);
  CHECK(lines(run.err).size() == 1);
  CHECK(run.err.starts_with("interrupted: "));
  return run;
}

json records_of(const string& line) {
  return json::parse(run_swa(line + " --format json").out)["records"];
}

}  // namespace

TEST_CASE("verify reports the first cases of a sweep that is interrupted") {
  // Slow and fast cases in turn: later ones are done while earlier ones still run, and are left
  // out.
  json report;
  for (const double after : {kSoon, 4 * kSoon, 16 * kSoon}) {
    const string line = "verify --nq 600:2400:1 --W none,1 --format json";
    report = json::parse(interrupted(line, SIGINT, after).out);
    if (!report["records"].empty()) break;  // else a busy machine was not done with the first
  }
  CHECK(report["schema"] == "swa.verify/1");
  CHECK(report["summary"]["interrupted"] == true);
  const json& records = report["records"];
  const std::size_t count = records.size();
  REQUIRE(count > 0);
  REQUIRE(count < 2 * 1801);
  CHECK(report["summary"]["pass"].get<std::size_t>() +
            report["summary"]["fail"].get<std::size_t>() ==
        count);
  const string range = "600:" + std::to_string(600 + (count - 1) / 2) + ":1";
  json whole = records_of("verify --nq " + range + " --W none,1");
  REQUIRE(whole.size() >= count);
  whole.erase(whole.begin() + static_cast<std::ptrdiff_t>(count), whole.end());
  CHECK(records == whole);
}

TEST_CASE("every format of an interrupted run is whole") {
  for (const string format : {"text", "jsonl", "csv", "md"}) {
    CAPTURE(format);
    const Finished run = interrupted("verify --nq 200:2000:1 --W none --format " + format, SIGTERM);
    CHECK(run.out.ends_with("\n"));
    if (format == "jsonl") {
      for (const string& line : lines(run.out)) CHECK(json::parse(line)["status"] == "pass");
    } else if (format == "text") {
      CHECK(contains(run.out, "interrupted: "));
    }
  }
}

TEST_CASE("junit of an interrupted run is not green") {
  const Element root =
      XmlReader::read(interrupted("verify --nq 200:2000:1 --W none --format junit", SIGTERM).out);
  CHECK(root.attributes.at("errors") == "1");
  REQUIRE(everywhere(root, "error").size() == 1);
  const auto cases = everywhere(root, "testcase");
  CHECK(root.attributes.at("tests") == std::to_string(cases.size()));
  CHECK(cases.back()->attributes.at("name") == "interrupted");
  CHECK(
      contains(everywhere(root, "error")[0]->attributes.at("message"), " of 1801 cases were run"));
}

TEST_CASE("a case that is broken off is left out") {
  const json report = json::parse(interrupted("verify --nq 256Ki --W 2048 --format json").out);
  CHECK(report["records"].empty());
  CHECK(report["summary"]["interrupted"] == true);
  CHECK(report["summary"]["pass"] == 0);
}

TEST_CASE("bench keeps the rounds that were run") {
  const json report = json::parse(
      interrupted(
          "bench --nq 64 --kernel cpu-tiled --rounds 1000000 --max-seconds 1000 --format json",
          SIGINT, 4 * kSoon)
          .out);
  CHECK(report["summary"]["interrupted"] == true);
  REQUIRE(report["records"].size() == 1);
  const json& record = report["records"][0];
  CHECK(record["rounds"] >= 1);
  CHECK(record["rounds"] < 1000000);
  CHECK(record["seconds"] > 0);
}

TEST_CASE("ring-sim has no half results") {
  const json report = json::parse(interrupted("ring-sim --W 512 --steps 100000 --format json").out);
  CHECK(report["records"].empty());
  CHECK(report["summary"]["interrupted"] == true);
}

TEST_CASE("a second signal ends the run at once") {
  // One block of rows against two million keys: the first signal is heard when it is done. Keys of
  // one element are drawn in no time, so the block has begun on a busy machine too.
  Setup setup;
  setup.signal_after = {kSoon, 1.2 * kSoon};
  const Finished run = run_swa("verify --nq 64 --nk 2Mi --head-dim 1", setup);
  CHECK_FALSE(run.timed_out);
  CHECK(run.signal == SIGINT);
  CHECK(run.out.empty());
}
