// trap-demo of the catalogue's faults: names, classes, formats and verdicts.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/process.hpp"
#include "kernels/forward.hpp"
#include "verify/faults.hpp"
#include "xml.hpp"

using nlohmann::json;
using namespace swa::test;
using std::string;
using std::vector;

namespace {

json report_of(const string& line, const Setup& setup = {}) {
  const Finished run = run_swa(line + " --format json", setup);
  INFO("swa ", line, ": ", run.err);
  CHECK(run.err.empty());
  return json::parse(run.out);
}

vector<string> traps_of(const json& report) {
  vector<string> names;
  for (const json& record : report["records"]) {
    const string name = record[record.contains("trap") ? "trap" : "record"];
    if (names.empty() || names.back() != name) names.push_back(name);
  }
  return names;
}

// A suite whose one case is a plain square.
const string kSquare = "[[case]]\nname = \"square\"\nn_q = 160\nwindow = 48\n";

}  // namespace

TEST_CASE("trap-demo shows a fault by a case that exposes it and one that hides it") {
  const json report = report_of("trap-demo window-one-too-wide");
  CHECK(report["schema"] == "swa.trap-demo/1");
  CHECK(report["summary"] == json{{"window-one-too-wide", "as predicted"}});
  REQUIRE(report["records"].size() == 2);
  const json shows = report["records"][0], hides = report["records"][1];
  CHECK(shows["record"] == "window-one-too-wide");
  CHECK(shows["role"] == "shows");
  CHECK(shows["options"] == "--W 48 --nq 160");
  CHECK(shows["wrong_rows"] == 112);
  CHECK(shows["predicted_rows"] == 112);
  CHECK(shows["max_err_in_bounds"] > 1000);
  CHECK(shows["first_wrong_row"] == json{0, 0, 48});
  CHECK(shows["first_wrong_row_in_words"] == "row 48 sees keys 0..48, should see keys 1..48");
  CHECK(contains(shows["remedy"].get<string>(), "pass 47, not 48"));
  CHECK(shows["diagnosis"] == "window-one-too-wide");
  CHECK(shows["reasons"].is_null());
  CHECK(hides["role"] == "hides");
  CHECK(hides["wrong_rows"] == 0);
  CHECK(hides["first_wrong_row"].is_null());
  CHECK(hides["same_bits"] == true);
  CHECK(hides["reasons"] == json{"W = 10000 > n_k = 500"});
  for (const json& record : report["records"]) {
    CHECK(record["verdict"] == "as predicted");
    CHECK(record["class"] == "window");
    CHECK(record["usual_cases"] == 10);
    CHECK(record["usual_cases_that_fail"] == 8);
    CHECK(report_of(record["repro"].get<string>().substr(4))["records"] == report["records"]);
  }
}

TEST_CASE("trap-demo says where no usual input hides a fault") {
  const json report = report_of("trap-demo scale-missing");
  REQUIRE(report["records"].size() == 1);
  CHECK(report["records"][0]["role"] == "shows");
  CHECK(report["records"][0]["usual_cases_that_fail"] == 10);
  CHECK(contains(run_swa("trap-demo scale-missing").out, "No usual input hides it"));
}

TEST_CASE("trap-demo takes the faults of a class together") {
  std::set<string> seen;
  for (const string& of_class : swa::fault_classes()) {
    const json listed = report_of("trap-demo all-" + of_class + " --list");
    for (const json& record : listed["records"]) {
      CHECK(record["class"] == of_class);
      seen.insert(record["trap"]);
    }
  }
  CHECK(seen.size() == swa::faults().size());
  CHECK(traps_of(report_of("trap-demo all-sink-logits")) ==
        traps_of(report_of("trap-demo all-sink-logits --list")));
  CHECK(traps_of(report_of("trap-demo all-faults")).size() == swa::faults().size());
}

TEST_CASE("trap-demo --list names every trap") {
  const json report = report_of("trap-demo --list");
  CHECK(report["schema"] == "swa.trap-demo.list/1");
  CHECK(report["summary"]["traps"] == swa::faults().size() + 4);
  const vector<string> names = traps_of(report);
  CHECK(vector<string>(names.begin(), names.begin() + 4) ==
        vector<string>{"nan", "off-by-one", "alignment", "rope-slot"});
  CHECK(std::set<string>(names.begin(), names.end()).size() == names.size());
  for (const swa::Fault& f : swa::faults()) {
    CHECK(std::find(names.begin(), names.end(), f.name) != names.end());
  }
  CHECK(traps_of(report_of("trap-demo top-left --list")) == vector<string>{"top-left"});
}

TEST_CASE("trap-demo of a fault prints all formats") {
  const string line = "trap-demo sink-logit-missing --format ";
  CHECK(lines(run_swa(line + "jsonl").out).size() == 2);
  CHECK(run_swa(line + "csv").out.starts_with("record,role,case,options,rows,wrong_rows,"));
  CHECK(contains(run_swa(line + "md").out, "| shows | sink-logits"));
  const Element root = XmlReader::read(run_swa(line + "junit").out);
  const auto tests = everywhere(root, "testcase");
  REQUIRE(tests.size() == 2);
  CHECK(tests[0]->attributes.at("name") ==
        "shows: sink-logits-few-keys: swa trap-demo sink-logit-missing");
  CHECK(tests[1]->attributes.at("name") == "hides: prefill-W100: swa trap-demo sink-logit-missing");
  CHECK(everywhere(root, "failure").empty());
}

TEST_CASE("trap-demo nan runs the chapter's experiment on a kernel of this build") {
  const json report = report_of("trap-demo nan --kernel cpu-tiled");
  CHECK(report["summary"] == json{{"nan", "as predicted"}});
  std::map<string, json> records;
  for (const json& record : report["records"]) {
    CHECK(record["kernel"] == "cpu-tiled");
    CHECK(record["verdict"] == "as predicted");
    CHECK(record["nan_rows"] == record["predicted_nan_rows"]);
    CHECK(record["others_right"] == true);
    CHECK(record["guarded_nan_elements"] == 0);
    CHECK(record["guarded_status"] == "pass");
    CHECK(contains(record["options"], "--dtype bf16"));
    records[record["case"]] = record;
  }
  CHECK(records.size() == 10);
  for (const string lost : {"prefill-W100", "prefill-W128", "chunk-W128", "n1000-W100"}) {
    CAPTURE(lost);
    CHECK(records[lost]["nan_rows"] > 0);
  }
  for (const string clean : {"prefill-W10000", "decode-W128", "n1000-W1001", "decode-W100"}) {
    CAPTURE(clean);
    CHECK(records[clean]["nan_rows"] == 0);
  }
  CHECK(contains(run_swa("trap-demo nan --kernel cpu-*").out,
                 "cpu-tiled without the guard: NaN in prefill-W100, prefill-W128, chunk-W128"));
  const Element root =
      XmlReader::read(run_swa("trap-demo nan --kernel cpu-tiled --format junit").out);
  std::set<string> names;
  for (const auto* test : everywhere(root, "testcase")) names.insert(test->attributes.at("name"));
  CHECK(names.size() == 10);
}

TEST_CASE("trap-demo refuses a kernel that has no part in it") {
  for (const string arguments :
       {"alignment --kernel cpu-tiled", "all --kernel cpu-tiled", "top-left --kernel cpu-tiled",
        "nan --kernel cpu-tiled --W 100", "nan --kernel cpu-tiled --guard on",
        "nan --kernel cpu-tiled --list", "nan --kernel cpu-tild", "--kernel cpu-tiled"}) {
    CAPTURE(arguments);
    const Finished run = run_swa("trap-demo " + arguments);
    CHECK(run.status == 2);
    CHECK(run.out.empty());
    CHECK(lines(run.err).size() == 2);
  }
  if (!swa::gpu_absence().empty()) {
    const Finished run = run_swa("trap-demo nan --kernel portable-*");
    CHECK(run.status == 3);
    CHECK(contains(run.err, "names GPU kernels, and " + swa::gpu_absence()));
  }
}

TEST_CASE("trap-demo exits with 1 where a fault is not shown as predicted") {
  const DataCopy data;
  data.write("cases/full.toml", kSquare);
  const Finished run = run_swa("trap-demo top-left", data.setup());
  CHECK(run.status == 1);
  CHECK(contains(run.out, "No case shows it."));
  const json report = report_of("trap-demo top-left", data.setup());
  CHECK(report["summary"]["top-left"] == "UNEXPECTED");
  CHECK(report["records"][0]["verdict"] == "UNEXPECTED");
  CHECK(report["records"][0]["case"].is_null());
  CHECK(run_swa("trap-demo window-one-too-wide", data.setup()).status == 0);
}

TEST_CASE("trap-demo of a fault needs the suites") {
  const DataCopy data;
  std::filesystem::remove(data.folder() / "cases/full.toml");
  const Finished run = run_swa("trap-demo top-left", data.setup());
  CHECK(run.status == 3);
  CHECK(run.out.empty());
  CHECK(run_swa("trap-demo off-by-one --n 70 --W 3", data.setup()).status == 0);
}
