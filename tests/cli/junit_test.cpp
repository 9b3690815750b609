// --format junit: the same verdicts as JSON, for CI systems.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "process.hpp"
#include "xml.hpp"

using namespace swa::test;
using nlohmann::json;
using std::string;

namespace {

// What junit calls a word of the verdict column; "" for a test that passed.
const std::map<string, string> kElements{
    {"pass", ""},
    {"ok", ""},
    {"as predicted", ""},
    {"unsupported", "skipped"},
    {"fail", "failure"},
    {"error", "error"},
    {"mistrusted", "failure"},
    {"waiting", "skipped"},
    {"other kernel", "skipped"},
    {"differs", "failure"},
    {"UNEXPECTED", "failure"},
    {"not computed", "failure"},
};

// Compares the test cases with the records of JSON, in order.
Element check_against_json(const string& line, const Setup& setup = {}) {
  INFO("swa ", line);
  const Finished as_json = run_swa(line + " --format json", setup);
  const Finished as_junit = run_swa(line + " --format junit", setup);
  CHECK(as_junit.status == as_json.status);
  CHECK(as_junit.err.empty());
  const json records = json::parse(as_json.out)["records"];
  const Element root = XmlReader::read(as_junit.out);
  const auto cases = everywhere(root, "testcase");
  REQUIRE(cases.size() == records.size());
  std::map<string, int> counts;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const string word =
        records[i].contains("status") ? records[i]["status"] : records[i]["verdict"];
    CAPTURE(word);
    const string element = kElements.at(word);
    CHECK(cases[i]->children.size() == (element.empty() ? 0 : 1));
    if (element.empty()) continue;
    ++counts[element];
    CHECK(cases[i]->children[0].name == element);
    CHECK(cases[i]->children[0].attributes.at("message").starts_with(word));
  }
  CHECK(root.attributes.at("tests") == std::to_string(cases.size()));
  CHECK(root.attributes.at("failures") == std::to_string(counts["failure"]));
  CHECK(root.attributes.at("errors") == std::to_string(counts["error"]));
  CHECK(root.attributes.at("skipped") == std::to_string(counts["skipped"]));
  return root;
}

}  // namespace

TEST_CASE("junit of verify names each case by the command that runs it again") {
  const Element root = check_against_json("verify --nq 8,9 --W 3,none --dtype fp32,bf16");
  for (const Element* test : everywhere(root, "testcase")) {
    CHECK(test->attributes.at("classname") == "swa.verify");
    CHECK(run_swa(test->attributes.at("name")).status == 0);
  }
  CHECK(everywhere(check_against_json("verify"), "testcase").size() > 5);
}

TEST_CASE("junit of verify tells a mistrusted case as a failure with its reason") {
  const Element root = check_against_json("verify --nq 8 --scale 1e9");
  REQUIRE(everywhere(root, "failure").size() == 1);
  CHECK(everywhere(root, "failure")[0]->attributes.at("message").starts_with("mistrusted: "));
  CHECK(contains(everywhere(root, "failure")[0]->text, "\nrepro: swa verify "));
}

TEST_CASE("junit of trap-demo has a suite for each trap") {
  const Element root = check_against_json("trap-demo all");
  REQUIRE(everywhere(root, "testsuite").size() == 4);
  CHECK(everywhere(root, "testsuite")[0]->attributes.at("name") == "swa.trap-demo.nan");
}

TEST_CASE("junit of reproduce skips what waits and names the figure that differs") {
  const DataCopy data;
  data.replace("chapter/figures.tsv", "kv-budget\tmistral-7b-v0.1 8192 L/G\t32/0",
               "kv-budget\tmistral-7b-v0.1 8192 L/G\t31/1");
  const Element root = check_against_json("reproduce --check", data.setup());
  REQUIRE(everywhere(root, "failure").size() == 1);
  CHECK(contains(everywhere(root, "failure")[0]->text, "chapter: 31/1\nours: 32/0\n"));
  const auto tests = everywhere(root, "testcase");
  const auto failed = std::find_if(tests.begin(), tests.end(), [](const Element* test) {
    return !test->children.empty() && test->children[0].name == "failure";
  });
  CHECK((*failed)->attributes.at("name") == "kv-budget: mistral-7b-v0.1 8192 L/G");
}

TEST_CASE("commands that judge nothing refuse junit and name the formats that they have") {
  for (const string line : {"kv-budget", "tile-map --nq 8", "ring-sim"}) {
    CAPTURE(line);
    const Finished run = run_swa(line + " --format junit");
    CHECK(run.status == 2);
    CHECK(run.out.empty());
    CHECK(contains(run.err, "--format junit needs verdicts"));
    CHECK(contains(run.err, "text, json, jsonl, csv or md"));
    CHECK_FALSE(contains(run_swa(words(line).at(0) + " --help").out, "junit"));
  }
  for (const string line : {"verify", "reproduce", "trap-demo"}) {
    CHECK(contains(run_swa(line + " --help").out, "junit"));
  }
}
