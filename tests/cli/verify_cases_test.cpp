// verify's suites and case files: which cases run, in which order, and where a run ends.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/process.hpp"
#include "problem/cases.hpp"
#include "scratch.hpp"

using nlohmann::json;
using namespace swa::test;
using std::string;
using std::vector;

namespace {

const string kFull = SWA_SOURCE_DIR "/data/cases/full.toml";

vector<string> names_of(const json& records) {
  vector<string> names;
  for (const json& record : records) names.push_back(record["case"]);
  return names;
}

json report_of(const Finished& run) {
  INFO("stderr: ", run.err);
  CHECK(run.err.empty());
  return json::parse(run.out);
}

// Ten cases; those named are mistrusted, whatever the kernel, and take longer than the others.
string ten_cases(const vector<int>& wrong) {
  string text;
  for (int i = 0; i < 10; ++i) {
    const bool is_wrong = std::find(wrong.begin(), wrong.end(), i) != wrong.end();
    text += "[[case]]\nname = \"c" + std::to_string(i) + "\"\n";
    text += is_wrong ? "n_q = 600\nscale = 1e6\n" : "n_q = 20\n";
  }
  return text;
}

}  // namespace

TEST_CASE("verify --suite full passes and each of its cases says what it is for") {
  const Finished run = run_swa("verify --suite full --kernel cpu-tiled --format json");
  const json report = report_of(run);
  CHECK(run.status == 0);
  CHECK(run.seconds < 10 * kSecond);
  const vector<swa::Case> cases = swa::read_cases(kFull);
  REQUIRE(report["records"].size() == cases.size());
  CHECK(report["summary"]["pass"] == cases.size());
  CHECK(report["summary"]["left_out"] == 0);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CAPTURE(cases[i].name);
    CHECK(report["records"][i]["case"] == cases[i].name);
    CHECK(report["records"][i]["status"] == "pass");
    CHECK(report["records"][i]["repro"] ==
          "swa verify " + swa::options(cases[i].problem) + " --kernel cpu-tiled");
    CHECK(cases[i].note.size() > 20);
  }
}

TEST_CASE("verify --suite full has the inputs of each class that a call can show") {
  const vector<swa::Case> cases = swa::read_cases(kFull);
  const auto any = [&](auto holds) {
    return std::any_of(cases.begin(), cases.end(),
                       [&](const swa::Case& c) { return holds(c.problem); });
  };
  using P = const swa::Problem&;
  using Kind = swa::Window::Kind;
  CHECK(any([](P p) { return p.n_q == p.n_k && p.window.width % 64 != 0; }));
  CHECK(any([](P p) { return p.n_q > 1 && p.n_q < 9 && p.n_k > p.window.width; }));
  CHECK(any([](P p) { return p.n_q == 1 && p.n_k > 4000; }));
  CHECK(any([](P p) { return p.n_q > p.n_k && p.window.kind == Kind::global; }));
  CHECK(any([](P p) { return p.n_q > p.n_k && p.window.kind == Kind::causal; }));
  CHECK(any([](P p) { return p.window.right.bounded && p.window.left == p.window.right; }));
  CHECK(any([](P p) { return p.n_q < p.n_k && p.window.left.reach == 20; }));
  CHECK(any([](P p) { return p.window.width == 1; }));
  CHECK(any([](P p) { return p.layout == swa::Layout::packed && p.lengths_q != p.lengths_k; }));
  CHECK(any([](P p) { return p.layout == swa::Layout::padded && p.has_lengths(); }));
  CHECK(any([](P p) { return p.heads_kv > 1 && p.heads_kv < p.heads_q && p.n_q < p.n_k; }));
  CHECK(any([](P p) { return p.batch > 1 && !p.has_lengths(); }));
  CHECK(any([](P p) { return p.sink_logits && p.heads_kv < p.heads_q; }));
  CHECK(any([](P p) { return p.sinks > p.window.width / 2 && p.n_k > 128; }));
  CHECK(any([](P p) { return p.softcap > 0 && p.softcap <= 2; }));
  CHECK(any([](P p) { return p.dtype == swa::Dtype::fp64 && p.score_scale() > 1000; }));
  CHECK(any([](P p) { return p.window.kind == Kind::chunked; }));
  CHECK(any([](P p) { return p.value_dim() != p.head_dim; }));
  CHECK(any([](P p) { return p.head_dim % 64 != 0 && p.head_dim > 64; }));
  CHECK(any([](P p) { return p.anchor == swa::Anchor::top_left && p.n_q != p.n_k; }));
  CHECK(any([](P p) { return p.inputs == swa::Recipe::large && p.dtype == swa::Dtype::fp16; }));
}

TEST_CASE("the scores of the full suite's deep and large cases are what their notes say") {
  const vector<swa::Case> cases = swa::read_cases(kFull);
  const auto scores = [&](const string& name, auto body) {
    const auto found = std::find_if(cases.begin(), cases.end(),
                                    [&](const swa::Case& c) { return c.name == name; });
    REQUIRE(found != cases.end());
    const swa::Problem& p = found->problem;
    const swa::Inputs inputs = swa::make_inputs(p);
    const swa::Mask mask = p.mask();
    for (swa::Index row = 0; row < p.n_q; ++row) {
      vector<double> visible;
      for (swa::Index key = 0; key < p.n_k; ++key) {
        if (!swa::sees(mask, row, key)) continue;
        double product = 0;
        for (swa::Index d = 0; d < p.head_dim; ++d) {
          product += inputs.q.row(0, 0, row)[d] * inputs.k.row(0, 0, key)[d];
        }
        visible.push_back(product);
      }
      body(visible, p.score_scale());
    }
  };
  int deep = 0, past_fp16 = 0;
  scores("deep-logits", [&](const vector<double>& row, double scale) {
    deep += *std::max_element(row.begin(), row.end()) * scale < -20000;
  });
  CHECK(deep >= 10);
  scores("large-fp16", [&](const vector<double>& row, double scale) {
    for (const double product : row) {
      past_fp16 += std::abs(product) > 65504;
      CHECK(std::abs(product * scale) < 10);
    }
  });
  CHECK(past_fp16 >= 10);
}

TEST_CASE("verify --cases runs a file and --match picks from it in the order of the file") {
  const Scratch scratch;
  const string file = scratch.write("mine.toml", ten_cases({}));
  const auto names = [&](const string& match) {
    return names_of(report_of(
        run_swa("verify --format json --cases " + file + " --match " + match))["records"]);
  };
  CHECK(names("*").size() == 10);
  CHECK(names("c7,c2,c?").size() == 10);
  CHECK(names("c7,c2") == vector<string>{"c2", "c7"});
  CHECK(names("c7,*7") == vector<string>{"c7"});
  const string commas = scratch.write(
      "commas.toml", "[[case]]\nname = 'a'\nn_q = 2\n[[case]]\nname = 'a, b'\nn_q = 3\n");
  CHECK(names_of(report_of(run_swa({"verify", "--format", "json", "--cases", commas, "--match",
                                    "a, b"}))["records"]) == vector<string>{"a, b"});
  CHECK(names_of(report_of(run_swa("verify --format json --match decode-*"))["records"]) ==
        vector<string>{"decode-W128", "decode-W100"});
}

TEST_CASE("verify --list prints the cases and runs nothing") {
  const json report = report_of(run_swa("verify --suite full --list --format json"));
  CHECK(report["schema"] == "swa.verify.cases/1");
  const vector<swa::Case> cases = swa::read_cases(kFull);
  REQUIRE(report["records"].size() == cases.size());
  CHECK(report["summary"]["cases"] == cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CHECK(report["records"][i]["case"] == cases[i].name);
    CHECK(report["records"][i]["options"] == swa::options(cases[i].problem));
    CHECK(report["records"][i]["note"] == cases[i].note);
  }
  // One that no machine could run.
  const string text = output("verify --list --nq 1024Gi --W 5,none");
  CHECK(contains(text, "--W 5 --nq 1099511627776"));
  CHECK(lines(text).size() == 3);
  CHECK(contains(output("verify --list --match chunk-*"), "chunk-W128"));
}

TEST_CASE("verify --fail-fast ends with the first case that does not pass") {
  const Scratch scratch;
  const string file = scratch.write("mine.toml", ten_cases({4, 8}));
  const Finished all = run_swa("verify --format json --cases " + file);
  CHECK(all.status == 1);
  const json whole = report_of(all);
  CHECK(whole["records"].size() == 10);
  CHECK(whole["summary"]["fail"] == 2);
  CHECK(whole["summary"]["left_out"] == 0);
  for (int i = 0; i < 20; ++i) {  // whatever order the threads take
    const Finished run = run_swa("verify --fail-fast --format json --cases " + file);
    CHECK(run.status == 1);
    const json report = report_of(run);
    CHECK(names_of(report["records"]) == vector<string>{"c0", "c1", "c2", "c3", "c4"});
    CHECK(report["records"][4]["status"] == "mistrusted");
    CHECK(report["summary"]["fail"] == 1);
    CHECK(report["summary"]["pass"] == 4);
    CHECK(report["summary"]["left_out"] == 5);
    CHECK(report["summary"]["interrupted"] == false);
  }
  const Finished text = run_swa("verify --fail-fast --cases " + file);
  CHECK(contains(text.out, "--fail-fast: 5 of 10 cases were run, 5 were left out"));
  // Nothing is left out where the last case fails, or none does.
  for (const vector<int>& wrong : {vector<int>{9}, vector<int>{}}) {
    const string path = scratch.write("other.toml", ten_cases(wrong));
    const Finished run = run_swa("verify --fail-fast --cases " + path);
    CHECK(run.status == static_cast<int>(wrong.size()));
    CHECK_FALSE(contains(run.out, "left out"));
  }
}

TEST_CASE("a case file that is none is refused in time") {
  const Scratch scratch;
  const auto refusal = [&](const string& file) {
    const Finished run = run_swa({"verify", "--cases", file});
    CHECK(run.status == 2);
    CHECK(run.out.empty());
    CHECK(run.seconds < kSecond);
    return scratch.without_folder(run.err);
  };
  CHECK(contains(refusal("/nonexistent.toml"), "--cases /nonexistent.toml is not there"));
  CHECK(contains(refusal(scratch.folder()), "is not a regular file"));
  CHECK(contains(refusal("/dev/zero"), "/dev/zero is not a regular file"));
  const string pipe = scratch.folder() + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(contains(refusal(pipe), "is not a regular file"));
  CHECK(contains(refusal(scratch.write("a.toml", "[[case]]\nname = 'a'\nW = 3\n")),
                 "a.toml:3: 'W' is not a key of [[case]]\n  choose from name, "));
  CHECK(contains(refusal(scratch.write("b.toml", string(3'000'000, '['))), "b.toml:1: "));
  CHECK(contains(refusal(scratch.write("c.toml", "[[case]]\nname = 'a'\n\"\\u001b[2J\" = 3\n")),
                 "is not a key of [[case]]"));
}

TEST_CASE("a report of many failures says in a line what they have in common") {
  const auto said = [](const string& line) { return run_swa("verify --no-poison " + line).out; };
  const string wide = "planted:window-one-too-wide";
  CHECK(contains(said("--nq 40,50 --W 8 --kernel cpu-tiled," + wide),
                 wide + ": window-one-too-wide explains 2 of the 2 that did not pass\n"
                        "2 of 4 did not pass"));
  // Each kernel by itself, and where faults do the same, the one that explains the others too.
  const string text =
      said("--nq 9,40 --W 8 --kernel planted:top-left,planted:window-ignored," + wide);
  CHECK(contains(text,
                 "planted:window-ignored: window-ignored explains 2 of the 2 that did not "
                 "pass; so does window-ignored-when-square, window-ignored-in-prefill\n"));
  CHECK(contains(text, wide + ": window-one-too-wide explains 2 of the 2"));
  CHECK_FALSE(contains(text, "planted:top-left: "));
  CHECK_FALSE(contains(said("--nq 40 --W 8 --kernel " + wide), "explains"));
  CHECK_FALSE(contains(said("--nq 40,600 --scale 1e6 --kernel cpu-tiled"), "explains"));
}

TEST_CASE("a report says why cases are unsupported, each reason once") {
  const Finished run = run_swa("verify --nq 8,9 --scale 1e38 --dtype fp32");
  INFO(run.out);
  CHECK(run.status == 0);
  const vector<string> said = lines(run.out);
  REQUIRE(said.size() > 3);
  CHECK(said[said.size() - 3] == "0 of 2 passed");
  CHECK(said[said.size() - 2] == "2 unsupported, which is no failure:");
  CHECK(said.back().starts_with("  2: "));
}

TEST_CASE("names in any script come out whole in every format") {
  const Scratch scratch;
  const string file =
      scratch.write("a.toml", "[[case]]\nname = 'Fenster \"größer\" 窓, \\ <b>'\nn_q = 5\n");
  const json report = report_of(run_swa({"verify", "--cases", file, "--format", "json"}));
  CHECK(report["records"][0]["case"] == "Fenster \"größer\" 窓, \\ <b>");
  for (const string format : {"text", "jsonl", "csv", "md", "junit"}) {
    CHECK(contains(output("verify --cases " + file + " --format " + format), "窓"));
  }
}

TEST_CASE("a problem that a repro line states is the case that failed") {
  const json records = report_of(run_swa("verify --suite full --format json"))["records"];
  for (const json& record : records) {
    const string repro = record["repro"];
    const json again = report_of(run_swa(repro + " --format json"))["records"][0];
    CAPTURE(repro);
    for (const string key :
         {"n_q", "lengths_k", "left", "scale", "inputs", "max_err", "expected"}) {
      CHECK(again[key] == record[key]);
    }
  }
}
