// Kernels that run elsewhere, through export and check: with files that are right, wrong, broken or
// missing.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/files.hpp"
#include "folder.hpp"

namespace fs = std::filesystem;
using namespace swa::test;
using nlohmann::json;
using std::string;
using std::vector;
using swa::Problem;

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

json checked(const string& root, int status, const string& more = "") {
  const Finished run = run_swa("verify check " + root + " --format json " + more);
  INFO("stderr: ", run.err);
  CHECK(run.err.empty());
  CHECK(run.status == status);
  return json::parse(run.out);
}

const string kTwo = "--nq 20 --nk 50 --W 7,9 --head-dim 16";

}  // namespace

TEST_CASE("files: a right kernel passes every case of the full suite, the probe included") {
  const Scratch scratch;
  const string root = exported(scratch, "--suite full");
  answer(root);
  const json report = checked(root, 0);
  const vector<swa::Case> cases = swa::read_cases(SWA_SOURCE_DIR "/data/cases/full.toml");
  REQUIRE(report["records"].size() == cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const json& record = report["records"][i];
    CAPTURE(record.dump());
    CHECK(record["case"] == cases[i].name);
    CHECK(record["status"] == "pass");
    CHECK(record["kernel"] == "files:" + root);
    CHECK(record["lse_mismatches"] == 0);
    CHECK(record["repro"] == "swa verify check " + root + " --match " + cases[i].name);
    // Of 4352 keys the probe would take 300 MB.
    CHECK((calls_of(root + "/" + cases[i].name).size() > 1) == (cases[i].name != "decode-long"));
  }
}

TEST_CASE("files: export writes what the problem draws, in both kinds of files") {
  const Scratch scratch;
  const string root =
      exported(scratch,
               "--lengths-q 3,5 --nk 9 --W 4 --heads 4 --kv-heads 2 --head-dim 8 --head-dim-v 6 "
               "--dtype fp64,bf16,fp16 --sink-logits --seed 5");
  const vector<swa::Case> cases = swa::read_cases(root + "/cases.toml");
  REQUIRE(cases.size() == 3);
  for (const swa::Case& c : cases) {
    CAPTURE(c.name);
    const swa::Inputs drawn = swa::make_inputs(c.problem);
    const vector<std::pair<string, const vector<double>*>> expected{
        {"q", &drawn.q.data},
        {"k", &drawn.k.data},
        {"v", &drawn.v.data},
        {"sink_logits", &drawn.sink_logits}};
    const string folder = root + "/" + c.name;
    const swa::SafetensorsFile file(folder + "/inputs.safetensors");
    REQUIRE(file.entries().size() == expected.size());
    for (const auto& [name, values] : expected) {
      CAPTURE(name);
      const swa::Array one = file.read(name), two = swa::read_npy(folder + "/" + name + ".npy");
      CHECK(one.dtype == c.problem.dtype);
      CHECK(one.shape == two.shape);
      REQUIRE(one.values.size() == values->size());
      REQUIRE(two.values.size() == values->size());
      for (std::size_t i = 0; i < values->size(); ++i) {
        const double x = (*values)[i];
        CHECK((std::isnan(x) ? std::isnan(one.values[i]) : one.values[i] == x));
        CHECK((std::isnan(x) ? std::isnan(two.values[i]) : two.values[i] == x));
      }
    }
    CHECK(file.read("q").shape == vector<swa::Index>{2, 4, 5, 8});
    CHECK(file.read("v").shape == vector<swa::Index>{2, 2, 9, 6});
  }
}

TEST_CASE("files: a window that is one too wide is named, from the numbers and from the probe") {
  const Scratch scratch;
  const string root = exported(scratch, "--nq 96 --nk 300 --W 100");
  answer(root, one_too_wide());
  const Finished run = run_swa("verify check " + root);
  CHECK(run.status == 1);
  CHECK(contains(run.out, "(certain): every window holds one key too many"));
  // The output alone tells too.
  const string folder = root + "/W-100-nq-96-nk-300";
  const string line = "verify --W 100 --nq 96 --nk 300 --output " + folder + "/o.npy";
  for (const string& more : {string(), " --lse " + folder + "/lse.npy"}) {
    const Finished alone = run_swa(line + more);
    CHECK(alone.status == 1);
    CHECK(contains(alone.out, "(certain): every window holds one key too many"));
    CHECK(contains(alone.out, "\n  swa " + line + more + "\n"));
  }
}

TEST_CASE("files: the probe finds what the numbers do not show") {
  const Scratch scratch;
  const string root = exported(scratch, "--nq 30 --nk 60 --W 10");
  const string folder = root + "/W-10-nq-30-nk-60";
  answer(root, one_too_wide());
  const Problem right = swa::read_cases(root + "/cases.toml")[0].problem;
  write_npy_outputs(folder, compute(right, inputs_of(folder)));
  const json record = checked(root, 1)["records"][0];
  CHECK(record["status"] == "fail");
  CHECK(record["mismatches"] == 0);
  // Without any output of the probe, it is left out.
  for (const string& call : calls_of(folder)) {
    if (call == folder) continue;
    fs::remove(call + "/o.npy");
  }
  CHECK(checked(root, 0)["records"][0]["status"] == "pass");
}

TEST_CASE("files: outputs come as safetensors too, narrow types also in fp32") {
  const Scratch scratch;
  const string root = exported(scratch, "--nq 20 --W 7 --dtype fp64,fp32,bf16,fp16");
  for (const swa::Case& c : swa::read_cases(root + "/cases.toml")) {
    for (const string& call : calls_of(root + "/" + c.name)) {
      const Outputs outputs = compute(c.problem, inputs_of(call));
      swa::write_safetensors(call + "/outputs.safetensors",
                             {{"lse", outputs.lse}, {"o", outputs.o}});
    }
  }
  const json report = checked(root, 0);
  for (const json& record : report["records"]) {
    CHECK(record["status"] == "pass");
    CHECK(record["lse_mismatches"] == 0);
  }
  const vector<swa::Case> cases = swa::read_cases(root + "/cases.toml");
  for (const auto& [index, dtype, taken] :
       vector<std::tuple<std::size_t, swa::Dtype, bool>>{{3, swa::Dtype::fp32, true},
                                                         {2, swa::Dtype::fp32, true},
                                                         {2, swa::Dtype::fp16, false},
                                                         {1, swa::Dtype::fp64, false},
                                                         {1, swa::Dtype::bf16, false},
                                                         {0, swa::Dtype::fp32, false}}) {
    const string folder = root + "/" + cases[index].name;
    Outputs outputs = compute(cases[index].problem, inputs_of(folder));
    swa::round_to(cases[index].problem.dtype, outputs.o.values);
    outputs.o.dtype = dtype;
    swa::write_safetensors(folder + "/outputs.safetensors", {{"o", outputs.o}});
    const json record = checked(root, taken ? 0 : 1)["records"][index];
    CAPTURE(record.dump());
    CHECK(record["status"] == (taken ? "pass" : "error"));
    if (!taken) CHECK(contains(record["reason"], " is taken here"));
    outputs.o.dtype = cases[index].problem.dtype;
    swa::write_safetensors(folder + "/outputs.safetensors", {{"o", outputs.o}});
  }
}

TEST_CASE("files: a broken file makes its case an error that names it, and the others still run") {
  const Scratch scratch;
  const string root = exported(scratch, kTwo);
  const string folder = root + "/W-7-nq-20-nk-50-head-dim-16", o = folder + "/o.npy";
  const auto write = [](const string& path, const string& text) {
    std::ofstream(path, std::ios::binary) << text;
  };
  const auto shaped = [&](const string& path, vector<swa::Index> shape) {
    std::size_t count = 1;
    for (const swa::Index n : shape) count *= static_cast<std::size_t>(n);
    swa::write_npy(path, {shape, swa::Dtype::fp32, vector<double>(count)});
  };
  struct Way {
    std::function<void()> spoil;
    vector<string> parts;
  };
  const string both = folder + "/outputs.safetensors";
  const vector<Way> ways{
      {[&] { fs::remove(o); }, {o, "is not there"}},
      {[&] { write(o, content_of(o).substr(0, 900)); }, {o, "cut off"}},
      {[&] { write(o, "not an array"); }, {o}},
      {[&] { write(o, ""); }, {o}},
      {[&] { fs::remove(o), fs::create_directory(o); }, {o, "folder"}},
      {[&] {
         shaped(o, {1, 1, 20, 15});
       },
       {o, "[1, 1, 20, 15]", "[1, 1, 20, 16]"}},
      {[&] {
         shaped(o, {20, 16});
       },
       {o, "[20, 16]"}},
      {[&] {
         shaped(folder + "/lse.npy", {1, 1, 20, 1});
       },
       {"lse.npy", "[1, 1, 20, 1]"}},
      {[&] { write(both, "{}"); }, {o, "both there"}},
      {[&] { fs::remove(o), fs::remove(folder + "/lse.npy"), write(both, "{}"); }, {both}},
      {[&] {
         fs::remove(o), fs::remove(folder + "/lse.npy");
         swa::write_safetensors(both, {{"out", {{1}, swa::Dtype::fp32, {0}}}});
       },
       {both, "'out' is no output"}},
      {[&] {
         fs::remove(o), fs::remove(folder + "/lse.npy");
         swa::write_safetensors(both, {});
       },
       {both, "no 'o'"}},
      {[&] { fs::remove(folder + "/probe-002/o.npy"); }, {"probe-002/o.npy", "is not there"}},
      {[&] { write(folder + "/probe-001/o.npy", "x"); }, {"probe-001/o.npy"}},
      {[&] { fs::remove(folder + "/inputs.safetensors"); }, {"inputs.safetensors"}},
      {[&] {
         fs::copy_file(folder + "/probe-000/inputs.safetensors", folder + "/inputs.safetensors",
                       fs::copy_options::overwrite_existing);
       },
       {"inputs.safetensors", "'q'"}},
      {[&] { write(folder + "/unsupported.txt", "no"); }, {"unsupported.txt", "output too"}},
      {[&] { fs::create_symlink("nowhere", folder + "/unsupported.txt"); },
       {"unsupported.txt", "output too"}},
  };
  answer(root);
  fs::copy(root, root + "-whole", fs::copy_options::recursive);
  for (const Way& way : ways) {
    way.spoil();
    const json records = checked(root, 1)["records"];
    CAPTURE(records[0].dump());
    CHECK(records[0]["status"] == "error");
    for (const string& part : way.parts) {
      CAPTURE(part);
      CHECK(contains(records[0]["reason"], part));
    }
    CHECK(records[1]["status"] == "pass");
    fs::remove_all(root);
    fs::copy(root + "-whole", root, fs::copy_options::recursive);
  }
  CHECK(checked(root, 0)["summary"]["pass"] == 2);
}

TEST_CASE("files: NaN in an output is judged, and a kernel may say what it does not do") {
  const Scratch scratch;
  const string root = exported(scratch, kTwo);
  answer(root);
  const string folder = root + "/W-7-nq-20-nk-50-head-dim-16", o = folder + "/o.npy";
  swa::Array array = swa::read_npy(o);
  array.values[5] = kNan;
  swa::write_npy(o, array);
  const json record = checked(root, 1)["records"][0];
  CHECK(record["status"] == "fail");
  CHECK(record["nonfinite"] == 1);
  fs::remove(o);
  std::ofstream(folder + "/unsupported.txt") << "only W = 9\nand more\n";
  const json report = checked(root, 0);
  CHECK(report["records"][0]["status"] == "unsupported");
  CHECK(report["records"][0]["reason"] == "only W = 9");
  CHECK(report["summary"]["unsupported"] == 1);
  CHECK(checked(root, 0, "--match *W-9*")["records"].size() == 1);
  CHECK(checked(root, 0, "--list")["records"].size() == 2);
}
