// swa bench: what its records say, and that they agree with one another. No time is judged here.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "process.hpp"
#include "scratch.hpp"

using namespace swa::test;
using nlohmann::json;
using std::string;

namespace {

json report_of(const string& line) {
  const Finished run = run_swa(line + " --format json");
  INFO("swa ", line);
  INFO("stderr: ", run.err);
  CHECK(run.status == 0);
  CHECK(run.err.empty());
  return json::parse(run.out);
}

}  // namespace

TEST_CASE("bench times every kernel on every problem and number of threads") {
  const json report = report_of("bench --nq 100,130 --W 20 --threads 1,2 --rounds 2");
  CHECK(report["schema"] == "swa.bench/1");
  CHECK(report["summary"]["interrupted"] == false);
  CHECK(report["summary"]["peak_rss_bytes"] > 1e6);
  std::set<string> seen;
  for (const json& r : report["records"]) {
    CAPTURE(r.dump());
    seen.insert(r["kernel"].get<string>() + " " + r["n_q"].dump() + " " + r["threads"].dump());
    CHECK(r["rounds"] == 2);
    CHECK(r["nonfinite"] == 0);
    const double seconds = r["seconds"], useful = r["useful_flops"], issued = r["issued_flops"];
    CHECK(r["seconds_min"] > 0);
    CHECK(r["seconds_min"] <= seconds);
    CHECK(r["seconds_iqr"] >= 0);
    CHECK(r["useful_flops_per_s"].get<double>() == doctest::Approx(useful / seconds));
    CHECK(r["issued_flops_per_s"].get<double>() == doctest::Approx(issued / seconds));
    CHECK(r["share_of_roof"].get<double>() ==
          doctest::Approx(useful / seconds / r["roof_flops_per_s"].get<double>()));
    CHECK(r["roof_dtype"] == (r["kernel"] == "cpu-tiled" ? "fp32" : "fp64"));
    CHECK(r["roof_shape"].size() == 3);
    CHECK(r["repro"].get<string>().starts_with("swa bench --"));
  }
  CHECK(seen.size() == 3 * 2 * 2);
  CHECK(report["records"].size() == seen.size());
}

TEST_CASE("bench counts a padded batch by its sequences") {
  // Causal: 5 rows see 15 pairs, 20 rows 210. Padding is neither work nor an output.
  const json report = report_of(
      "bench --nq 20 --lengths-q 5,20 --head-dim 8 --head-dim-v 4 "
      "--rounds 1");
  REQUIRE(report["records"].size() == 3);
  for (const json& r : report["records"]) {
    CHECK(r["useful_flops"] == 2 * (8 + 4) * (15 + 210));
    CHECK(r["nonfinite"] == 0);
  }
}

TEST_CASE("bench of rows that see nothing is measured as no work") {
  for (const string line : {"bench --lengths-q 5 --lengths-k 0 --rounds 1",
                            "bench --nq 200 --nk 10 --W 4 --anchor top-left --rounds 1"}) {
    const json report = report_of(line);
    for (const json& r : report["records"]) {
      CHECK(r["nonfinite"] == 0);
      CHECK(r["seconds"] > 0);
    }
  }
}

TEST_CASE("bench counts the work of each kernel exactly") {
  // 130 rows of up to 20 keys: 1 + ... + 19 = 190, then 111 rows of 20. head_dim 8, 2 heads.
  const double visible = 190 + 111 * 20;
  const json report =
      report_of("bench --nq 130 --W 20 --head-dim 8 --heads 2 --rounds 1 --BM 64 --BN 32");
  REQUIRE(report["records"].size() == 3);
  for (const json& r : report["records"]) {
    CAPTURE(r.dump());
    CHECK(r["useful_flops"] == 2 * 2 * (8 + 8) * visible);
    if (r["kernel"] == "cpu-tiled") {
      // Rows [0, 64) meet keys [0, 64), [64, 128) meet [32, 128), [128, 130) meet [96, 130).
      CHECK(r["issued_pairs"] == 64 * 64 + 64 * 96 + 2 * 34);
      CHECK(r["issued_flops"] == 2 * 2 * (8 + 8) * (64 * 64 + 64 * 96 + 2 * 34));
    } else if (r["kernel"] == "oracle-band") {
      // The same rows meet [0, 64), [45, 128) and [109, 130).
      CHECK(r["issued_pairs"] == 64 * 64 + 64 * 83 + 2 * 21);
      CHECK(r["issued_flops"] == 2 * 2 * (8 + 8 + 8) * (64 * 64 + 64 * 83 + 2 * 21));
    } else {
      CHECK(r["issued_pairs"] == visible);
    }
  }
}

TEST_CASE("bench runs one round whatever it takes, and none after its time") {
  const json report = report_of("bench --nq 64 --rounds 1000000 --max-seconds 1e-9");
  for (const json& r : report["records"]) CHECK(r["rounds"] == 1);
}

TEST_CASE("bench repeats a record's problem from its repro line") {
  const json record = report_of(
      "bench --nq 40 --nk 50 --W 9 --sinks 2 --dtype fp64 --heads 2 --kv-heads 1 --rounds 1 "
      "--threads 1 --BM 8 --BN 16 --kernel cpu-* --seed 4 --sink-logits --max-seconds 3")["records"]
                                                                                         [0];
  const string line = record["repro"];
  CAPTURE(line);
  const json again = report_of(line)["records"][0];
  for (const auto& [key, value] : record.items()) {
    CAPTURE(key);
    if (key.starts_with("seconds") || key.ends_with("per_s") || key == "share_of_roof" ||
        key == "roof_shape") {
      continue;  // measured
    }
    CHECK(again[key] == value);
  }
  CHECK(record["roof_dtype"] == "fp64");
}

TEST_CASE("bench shows its table and its memory to people") {
  const Finished run = run_swa("bench --nq 64 --rounds 1 --kernel oracle-*");
  CHECK(run.status == 0);
  CHECK(contains(run.out, "oracle-band"));
  CHECK(contains(run.out, "oracle-dense"));
  CHECK_FALSE(contains(run.out, "cpu-tiled"));
  CHECK(contains(run.out, "peak memory of the process: "));
}

TEST_CASE("the band oracle needs memory for its tensors and its blocks and no more") {
  const double n = 131072, d = 16;
  const json report = report_of(
      "bench --nq 131072 --W 1024 --head-dim 16 --kernel oracle-band --rounds 1 --threads 2");
  // q, k, v, out and weight |v|, outputs that were poisoned, and a few numbers a row. A block of
  // rows against all keys would be 64 MiB a thread.
  const double tensors = 8 * n * (6 * d + 8);
  const double peak = report["summary"]["peak_rss_bytes"];
  CHECK(report["records"][0]["nonfinite"] == 0);
  if (!kSanitized) CHECK(peak < tensors + 32.0 * 1024 * 1024);
  CHECK(peak > 8 * n * 5 * d);  // what it holds at least: the figure is no other process's
}

TEST_CASE("the peak memory is not that of the program that started swa") {
  const string bash = tool_or_skip("bash");
  if (bash.empty()) return;
  // A shell that holds 200 MB becomes swa.
  const string line =
      "printf -v x '%0200000000d' 1; exec \"$0\" bench --nq 8 --kernel cpu-tiled --rounds 1 "
      "--format json";
  const Finished run = swa::test::run(bash, {"-c", line, SWA_BINARY});
  REQUIRE(run.status == 0);
  CHECK(run.peak_mib > 150);
  const double peak = json::parse(run.out)["summary"]["peak_rss_bytes"];
  if (!kSanitized) CHECK(peak < 100.0 * 1024 * 1024);
}

TEST_CASE("bench refuses what it cannot time") {
  struct Row {
    string line;
    int status;
    string part;
  };
  const std::vector<Row> rows{
      {"bench", 2, "no size"},
      {"bench --nq 8 --kernel cpu-nothing", 2, "cpu-nothing"},
      {"bench --nq 8 --kernel sm90-*", 3, "names GPU kernels"},
      {"bench --nq 8 --kernel sm90-*", 3, "leave --kernel out"},
      {"bench --nq 8 --rounds 0", 2, "--rounds 0"},
      {"bench --nq 8 --rounds 1,2", 2, "--rounds 1,2"},
      {"bench --nq 8 --threads 0", 2, "--threads 0"},
      {"bench --nq 8 --threads 5000", 2, "--threads 5000"},
      {"bench --nq 8 --max-seconds 0", 2, "--max-seconds 0"},
      {"bench --nq 8 --max-seconds x", 2, "--max-seconds x"},
      {"bench --nq 8 --W 4 --cache contiguous,ring", 2, "--cache ring"},
      {"bench --nq 8 --cache paged", 2, "contiguous keys"},
      {"bench --nq 1Ti --W 128", 3, "GiB"},
      {"bench --nq 8 --kernel cpu-tiled --export times.svg", 2, "a sweep over --nq or over --W"},
      {"bench --nq 8,16 --W 2,4 --kernel cpu-tiled --export times.svg", 2, "a sweep over --nq"},
      {"bench --plan --nq 8 --rounds 2", 2, "--rounds has no say"},
      {"bench --plan --nq 8 --kernel cpu-tiled", 2, "names no kernel"},
      {"bench --plan --nq 8 --arch sm_75", 2, "sm_80, sm_86"},
      {"bench --nq 8 --arch sm_90", 2, "add --plan"},
      {"bench --nq 8 --kernel cpu-tiled --regime often", 2, "--regime often"},
      {"bench --nq 8 --kernel cpu-tiled --regime alone", 2, "--regime is for GPU kernels"},
      {"bench --nq 8 --kernel cpu-tiled --launches", 2, "--launches is for GPU kernels"},
      {"bench --suite perf --nq 8", 2, "--suite brings its own problems"},
      {"bench --match x --nq 8", 2, "picks cases by name"},
      {"bench --suite perf --list --rounds 3", 2, "--rounds has no say"},
      {"bench --suite pref", 2, "perf"},
      {"bench --nq 8 --random 3", 2, "--random"},
      {"bench --nq 8 --figure times", 2, "add --export FILE.svg"},
      {"bench --from nowhere.json", 2, "no figure is asked for"},
      {"bench --from nowhere.json --export x.svg", 2, "nowhere.json"},
      {"bench --nq 8 --kernel cpu-tiled --baseline nowhere.json", 2, "nowhere.json"},
      {"bench --nq 8 --kernel cpu-tiled --max-regression 5%", 2, "add --baseline FILE"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    const Finished run = run_swa(row.line, {.timeout = 10});
    INFO("stderr: ", run.err);
    CHECK(run.status == row.status);
    CHECK(run.out.empty());
    CHECK(contains(run.err, row.part));
    CHECK(lines(run.err).size() == 2);
  }
}

TEST_CASE("bench --plan says what the GPU kernels would do, without a GPU") {
  const json report =
      report_of("bench --plan --W 128 --nq 1,8192 --nk 8192 --heads 64 --kv-heads 8 --dtype bf16");
  CHECK(report["schema"] == "swa.bench-plan/1");
  REQUIRE(report["records"].size() == 8);
  for (const json& r : report["records"]) {
    CAPTURE(r.dump());
    CHECK_FALSE(r["reason"].get<string>().empty());
    if (!r["supported"]) {
      CHECK(r["grid"].is_null());
      continue;
    }
    for (const char* key : {"BM", "BN", "grid", "threads", "smem_bytes", "splits"}) {
      CAPTURE(key);
      CHECK(r[key].get<int>() > 0);
    }
    CHECK(r["positions"].get<int>() * r["heads"].get<int>() <= r["BM"].get<int>());
  }
  const json& prefill = report["records"][4];
  CHECK(prefill["kernel"] == "portable-prefill");
  CHECK(prefill["heads"] == 8);  // the band of a tile is W + 15 keys wide, and not W + 127
  CHECK(prefill["grid"] == 8192 / 16 * 8);
  CHECK(report["records"][6]["supported"] == false);  // decode of 8192 queries
  const json& band = report["records"][7];
  CHECK(band["kernel"] == "sm90-band");
  CHECK(band["BN"] == 136);  // W + 7 keys, in one pass
  CHECK(band["useful_share"].get<double>() > 0.93);
  // One kernel is chosen for each problem.
  for (const std::size_t first : {0, 4}) {
    int chosen = 0;
    for (std::size_t i = first; i < first + 4; ++i) {
      chosen += report["records"][i]["chosen"].get<bool>() ? 1 : 0;
    }
    CHECK(chosen == 1);
  }
  CHECK(report["records"][2]["chosen"] == true);  // decode
  CHECK(band["chosen"] == true);
}

TEST_CASE("bench --plan plans for the GPU that --arch names") {
  // Splits follow the multiprocessors, and the rest does not depend on the GPU.
  const string line =
      "bench --plan --W 65536 --nq 1 --nk 131072 --heads 8 --dtype bf16 --kernel *-decode";
  const auto splits = [&](const string& arch) {
    const json record = report_of(line + " --arch " + arch)["records"][0];
    CHECK(record["arch"] == (arch == "80" ? "sm_80" : arch == "90a" ? "sm_90" : arch));
    return record["splits"].get<int>();
  };
  CHECK(splits("80") < splits("90a"));
  CHECK(splits("sm_90") == splits("90a"));
  CHECK(contains(run_swa(line + " --arch sm_89").out, "L40S"));
  const json record = report_of(line + " --arch sm_80")["records"][0];
  CHECK(contains(record["repro"].get<string>(), "--arch sm_80"));
}

TEST_CASE("the perf suite is listed and planned without a GPU") {
  const json listed = report_of("bench --suite perf --list");
  std::set<string> names;
  for (const json& r : listed["records"]) {
    names.insert(r["case"].get<string>());
    CHECK(r["n_k"] >= r["n_q"]);
    CHECK(r.contains("seed"));
  }
  CHECK(names.size() == listed["records"].size());
  // Sweeps over W, N, heads, head_dim, queries: more than a few values of each.
  const auto values = [&](const string& key) {
    std::set<json> all;
    for (const json& r : listed["records"]) all.insert(r[key]);
    return all.size();
  };
  CHECK(values("window") >= 9);
  CHECK(values("n_q") >= 8);
  CHECK(values("head_dim") >= 6);
  CHECK(values("heads_kv") >= 5);
  CHECK(values("batch") >= 4);
  CHECK(values("dtype") == 2);
  const json planned =
      report_of("bench --suite perf --plan --kernel portable-prefill,portable-decode");
  CHECK(planned["records"].size() == 2 * names.size());
  for (const json& r : planned["records"]) {
    if (r["kernel"] == "portable-prefill") CHECK(r["supported"] == true);
  }
}

TEST_CASE("a suite is not timed on the CPU unless its kernels are named") {
  if (contains(output("--devices"), "NVIDIA ")) return;  // there is a GPU
  const Finished run = run_swa("bench --suite perf", {.timeout = 10});
  CHECK(run.status == 3);
  CHECK(contains(run.err, "timed on a GPU"));
  const json report = report_of("bench --suite full --match square --kernel cpu-tiled --rounds 1");
  CHECK(report["records"][0]["case"] == "square");
}

TEST_CASE("bench compares with a baseline, and ends with 1 where a kernel is slower") {
  const Scratch folder;
  const string line = "bench --nq 300 --W 20 --rounds 2 --threads 1 --kernel cpu-tiled,oracle-band";
  json before = report_of(line);
  const auto compared = [&](const string& more) {
    const string path = folder.write("before.json", before.dump());
    return run_swa(line + " --baseline " + path + more);
  };
  for (json& r : before["records"]) r["seconds"] = r["seconds"].get<double>() * 1e3;
  const Finished faster = compared("");
  CHECK(faster.status == 0);
  CHECK(contains(faster.out, "faster"));
  for (json& r : before["records"]) r["seconds"] = r["seconds"].get<double>() * 1e-6;
  const Finished slower = compared(" --max-regression 50%");
  CHECK(slower.status == 1);
  CHECK(contains(slower.out, "slower"));
  before["records"][0]["n_q"] = before["records"][1]["n_q"] = 301;
  const Finished other = compared("");
  CHECK(other.status == 2);
  CHECK(contains(other.err, "before.json"));
}

TEST_CASE("bench draws what it wrote before, times and rooflines") {
  const Scratch folder;
  const string times = folder.folder() + "/times.json", svg = folder.folder() + "/times.svg";
  const Finished swept = run_swa(
      "bench --W 16 --nq 32,64,128 --kernel cpu-tiled --rounds 1 --export " + times + "," + svg);
  REQUIRE(swept.status == 0);
  const string drawn = folder.folder() + "/again.svg";
  CHECK(run_swa("bench --from " + times + " --export " + drawn).status == 0);
  const auto polylines = [&](const string& path) {
    std::ifstream file(path);
    const string text((std::istreambuf_iterator<char>(file)), {});
    return text.substr(text.find("<polyline"));
  };
  CHECK(polylines(drawn) == polylines(svg));
  // Nothing of a CPU's record says what its memory allows.
  const Finished roofline =
      run_swa("bench --from " + times + " --figure roofline --export " + drawn);
  CHECK(roofline.status == 2);
}
