// What the options about files refuse, what export leaves behind where it fails, inputs of one's
// own, and --dump.
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
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

namespace {

void refused(const string& line, int status, const vector<string>& parts) {
  const Finished run = run_swa(line);
  CAPTURE(line);
  INFO("stderr: ", run.err);
  CHECK(run.status == status);
  CHECK(run.out.empty());
  CHECK(lines(run.err).size() == 2);
  for (const string& part : parts) {
    CAPTURE(part);
    CHECK(contains(run.err, part));
  }
}

const string kProblem = "--nq 6 --nk 11 --W 4 --head-dim 8";
const string kFolder = "W-4-nq-6-nk-11-head-dim-8";

}  // namespace

TEST_CASE("files: what contradicts itself is refused") {
  const Scratch scratch;
  const string root = exported(scratch, kProblem), free = scratch.folder() + "/free";
  answer(root);
  const string folder = root + "/" + kFolder, o = folder + "/o.npy";
  const string q = folder + "/q.npy", k = folder + "/k.npy", v = folder + "/v.npy";
  const string inputs = " --q " + q + " --k " + k + " --v " + v;
  struct Line {
    string arguments;
    vector<string> parts;
  };
  for (const auto& [arguments, parts] : vector<Line>{
           {"exprot --out " + free, {"unexpected word 'exprot'", "export"}},
           {"'' --nq 8", {"unexpected word ''", "export, check"}},
           {"export check --out " + free, {"'check'"}},
           {"export x y", {"unexpected word 'y'"}},
           {"export", {"--out"}},
           {"export --out=", {"--out"}},
           {"export --out", {"--out"}},
           {"export --out " + free + " --kernel cpu-tiled", {"export", "--kernel"}},
           {"export --out " + free + " --BM 8", {"export", "--BM"}},
           {"export --out " + free + " --timeout 8", {"export", "--timeout"}},
           {"export --out " + free + " --fail-fast", {"export", "--fail-fast"}},
           {"export --out " + free + " --list", {"--list"}},
           {"export --out " + free + " --output " + o, {"export", "--output"}},
           {"export --out " + free + " --dump d", {"export", "--dump"}},
           {"export --out " + free + inputs, {"export", "--q"}},
           {"export --out " + free + " --nq 8 --suite full", {"--suite"}},
           {"export --out " + root, {"--out " + root, "not empty"}},
           {"export --out " + o, {"--out " + o, "not a folder"}},
           {"export --out " + free + "/deeper", {"--out " + free, "not there"}},
           {"--out " + free, {"nothing is exported", "--out"}},
           {"check", {"check has no folder"}},
           {"check ''", {"folder has no value"}},
           {"check " + free, {free, "not a folder"}},
           {"check " + folder, {folder + "/cases.toml", "is not there"}},
           {"check " + root + " --suite full", {"--suite"}},
           {"check " + root + " --cases x", {"--cases"}},
           {"check " + root + " --nq 8", {"a problem is stated"}},
           {"check " + root + " --kernel cpu-tiled", {"check", "--kernel"}},
           {"check " + root + " --BN 4", {"check", "--BN"}},
           {"check " + root + " --timeout 4", {"check", "--timeout"}},
           {"check " + root + " --output " + o, {"check", "--output"}},
           {"check " + root + inputs, {"check", "--q"}},
           {"check " + root + " --out " + free, {"nothing is exported", "--out"}},
           {"check " + root + " --match nothing", {"--match", "'nothing'"}},
           {"check " + root + " --list --dump " + free, {"--list", "--dump"}},
           {"--output " + o, {"--output", "none is stated"}},
           {"--suite full --output " + o, {"--output", "none is stated"}},
           {kProblem + " --kernel cpu-tiled --output " + o, {"--output", "--kernel"}},
           {kProblem + " --BM 8 --output " + o, {"--output", "--BM"}},
           {kProblem + " --output=", {"--output has no value"}},
           {"--nq 6 --nk 11 --W 4,5 --head-dim 8 --output " + o, {"--output", "2 are stated"}},
           {kProblem + " --lse " + o, {"--output", "--lse"}},
           {kProblem + " --q " + q, {"--q is given without --k"}},
           {kProblem + " --k " + k + " --v " + v, {"--k is given without --q"}},
           {"--nq 6,7 --nk 11 --head-dim 8" + inputs, {"--q", "2 are stated"}},
           {"--suite full" + inputs, {"--q", "none is stated"}},
           {kProblem + " --seed 3" + inputs, {"--seed"}},
           {kProblem + " --inputs large" + inputs, {"--inputs"}},
           {kProblem + " --sink-logits" + inputs, {"--sink-logits"}},
           {kProblem + " --dump " + free + inputs, {"--dump"}},
           {kProblem + " --output " + folder, {folder, "folder"}},
           {kProblem + " --output " + free, {free}},
           {kProblem + " --output " + o + " --lse " + o, {o, "[1, 1, 6]"}},
           {"--nq 6 --nk 12 --W 4 --head-dim 8" + inputs, {k, "[1, 1, 11, 8]", "[1, 1, 12, 8]"}},
           {kProblem + " --dump " + root, {"--dump " + root, "not empty"}},
           {kProblem + " --dump " + string(300, 'x'), {"--dump xx", "no such name"}},
           {"export " + kProblem + " --out " + string(300, 'x'), {"--out xx", "no such name"}},
           {"check " + root + " --export " + free + ".svg", {".svg", "an output in files"}},
           {kProblem + " --export " + free + ".svg --output " + o, {".svg", "an output in files"}},
           {"export " + kProblem + " --out " + free + " --export " + free + ".svg",
            {"export has", ".svg"}}}) {
    refused("verify " + arguments, 2, parts);
    CHECK_FALSE(fs::exists(free));
  }
  CHECK(output("verify check " + root).find("1 of 1 passed") != string::npos);
}

TEST_CASE("files: names of cases become names of folders, and no others are followed") {
  const Scratch scratch;
  const string file = scratch.write("mine.toml",
                                    "[[case]]\nname = \"../two, documents\"\nn_q = 3\n"
                                    "[[case]]\nname = \"two documents\"\nn_q = 4\n"
                                    "[[case]]\nname = \"cases.toml\"\nn_q = 5\n"
                                    "[[case]]\nname = \"\xc3\xa9\"\nn_q = 6\n");
  const string root = exported(scratch, "--cases " + file);
  CHECK(names_in(root) ==
        std::set<string>{"cases.toml", "two-documents", "two-documents-2", "cases.toml-2", "case"});
  answer(root);
  const string text = output("verify check " + root);
  CHECK(contains(text, "4 of 4 passed"));
  CHECK_FALSE(contains(text, "--poison"));  // an option that check would refuse
  for (const string name : {"..", "../x", "a/b", ".hidden", "-x", "a b", "cases.toml"}) {
    std::ofstream(root + "/cases.toml") << "[[case]]\nname = \"" + name + "\"\nn_q = 3\n";
    refused("verify check " + root, 2, {root + "/cases.toml", "'" + name + "'"});
  }
  std::ofstream(root + "/cases.toml") << "[[case]]\nname = 3\n";
  const Finished unnamed = run_swa("verify check " + root);
  CHECK(unnamed.status == 2);
  CHECK(contains(unnamed.err, root + "/cases.toml:2"));
}

TEST_CASE("files: an export that fails or is stopped leaves nothing behind") {
  const Scratch scratch;
  const string root = scratch.folder() + "/x";
  {
    const FullDisk full(3000);
    refused("verify export --nq 4,100 --head-dim 8 --out " + root, 3, {root, "too large"});
  }
  CHECK_FALSE(fs::exists(root));
  fs::create_directory(root);
  {
    const FullDisk full(3000);
    refused("verify export --nq 4,100 --head-dim 8 --out " + root, 3, {root, "too large"});
  }
  CHECK(names_in(root).empty());
  Setup setup;
  setup.signal_after = {0.3};
  const Finished run =
      run_swa("verify export --nq 500 --W 1:100:1 --format json --out " + root, setup);
  CHECK(run.status == 130);
  CHECK(run.err == "interrupted: nothing was exported\n");
  CHECK(json::parse(run.out)["summary"]["interrupted"] == true);
  CHECK(names_in(root).empty());
  // What is too much for the machine is refused before anything is written.
  refused("verify export --nq 1Ti --W 8 --out " + root, 3, {"memory"});
  refused("verify export --nq 20000 --W 1:2000:1 --sinks 0:9:1 --heads 32 --out " + root, 3,
          {"--out " + root, "are free there"});
  CHECK(names_in(root).empty());
  CHECK(output("verify export --nq 4 --head-dim 8 --out " + root + "/").size() > 0);
  CHECK(fs::exists(root + "/cases.toml"));
}

TEST_CASE("files: inputs of one's own are judged, by a kernel here or by an output") {
  const Scratch scratch;
  const string at = scratch.folder() + "/";
  const string problem = "--lengths-q 6,2 --lengths-k 9,4 --nq 6 --W 4 --head-dim 8 --dtype bf16";
  swa::Problem p;
  p.batch = 2, p.lengths_q = {6, 2}, p.lengths_k = {9, 4}, p.n_q = 6, p.n_k = 9, p.head_dim = 8;
  p.window = swa::Window::causal(4), p.dtype = swa::Dtype::bf16, p.seed = 77;
  const swa::Inputs inputs = swa::make_inputs(p);  // of another seed, NaN in its padding
  const auto write = [&](const string& name, const swa::Tensor<double>& t, swa::Dtype dtype) {
    const swa::Shape& s = t.shape;
    swa::write_npy(at + name, {{s.batch, s.heads, s.tokens, s.dim}, dtype, t.data});
  };
  write("q.npy", inputs.q, p.dtype);
  write("k.npy", inputs.k, p.dtype);
  write("v.npy", inputs.v, p.dtype);
  write_npy_outputs(scratch.folder(), compute(p, inputs));
  const string own = " --q " + at + "q.npy --k " + at + "k.npy --v " + at + "v.npy";
  const string line = "verify " + problem + own;
  CHECK(output(line + " --kernel cpu-tiled").find("1 of 1 passed") != string::npos);
  CHECK(output(line + " --output " + at + "o.npy --lse " + at + "lse.npy").find("1 of 1 passed") !=
        string::npos);
  const Finished drawn = run_swa("verify " + problem + " --output " + at + "o.npy");
  CHECK(drawn.status == 1);
  const json report = json::parse(output(line + " --kernel cpu-tiled --format json"));
  CHECK(contains(report["records"][0]["repro"], own));

  swa::Tensor<double> k = inputs.k;
  k.row(1, 0, 3)[5] = std::numeric_limits<double>::infinity();
  write("k.npy", k, p.dtype);
  refused(line, 2, {"k.npy", "[1, 0, 3, 5]", "inf"});
  k.row(1, 0, 3)[5] = 1.001;
  write("k.npy", k, swa::Dtype::fp32);
  refused(line, 2, {"k.npy", "1.00", "bf16"});
  write("k.npy", inputs.k, swa::Dtype::fp64);
  refused(line, 2, {"k.npy", "fp64", "bf16 or fp32"});
  std::ofstream(at + "v.npy") << "no";
  write("k.npy", inputs.k, p.dtype);
  refused(line, 2, {"v.npy"});
}

TEST_CASE("files: --dump keeps the tensors of what fails, and a case file that runs it again") {
  const Scratch scratch;
  const string root = exported(scratch, "--nq 30 --W 5,40 --head-dim 8"), to = root + "-dump";
  answer(root, one_too_wide());  // 40 + 1 keys are those of 40 where there are 30
  const string line = "verify check " + root + " --dump " + to;
  const Finished run = run_swa(line);
  CHECK(run.status == 1);
  CHECK(contains(run.out, "--dump: 1 case is in " + to));
  const string name = "W-5-nq-30-head-dim-8", folder = to + "/" + name;
  CHECK(names_in(to) == std::set<string>{"cases.toml", name});
  const swa::Case c = swa::read_cases(to + "/cases.toml").at(0);
  const swa::Inputs inputs = swa::make_inputs(c.problem);
  CHECK(inputs_of(folder).k.data == inputs.k.data);
  CHECK(swa::read_npy(folder + "/expected.npy").values == swa::oracle(c.problem, inputs).out.data);
  CHECK(swa::read_npy(folder + "/expected_lse.npy").values ==
        swa::oracle(c.problem, inputs).lse.data);
  string kernel;
  for (const string& entry : names_in(folder)) {
    if (fs::is_directory(folder + "/" + entry)) kernel = entry;
  }
  CHECK(content_of(folder + "/" + kernel + "/o.npy") == content_of(root + "/" + name + "/o.npy"));
  CHECK(swa::read_npy(folder + "/" + kernel + "/lse.npy").values ==
        swa::read_npy(root + "/" + name + "/lse.npy").values);
  CHECK(output("verify --cases " + to + "/cases.toml").find("1 of 1 passed") != string::npos);
  // Where nothing fails nothing is made; where the disk is full the verdicts still come.
  output("verify --nq 8 --dump " + to + "-none");
  CHECK_FALSE(fs::exists(to + "-none"));
  fs::remove_all(to);
  const string sizes = exported(scratch, "--nq 12,60 --W 5 --head-dim 8", "sizes");
  answer(sizes, one_too_wide());
  const auto cut_off_at = [&](rlim_t bytes) {
    const FullDisk full(bytes);
    const Finished cut = run_swa("verify check " + sizes + " --dump " + to);
    CHECK(cut.status == 1);
    CHECK(contains(cut.out, "2 of 2 did not pass"));
    CHECK(contains(cut.out, "could not be written"));
    return cut.out;
  };
  CHECK(contains(cut_off_at(700), "--dump: nothing was written to " + to + "; "));
  CHECK_FALSE(fs::exists(to));
  // The first case is small enough.
  CHECK(contains(cut_off_at(3000), "--dump: 1 case is in " + to));
  CHECK(names_in(to) == std::set<string>{"cases.toml", "W-5-nq-12-head-dim-8"});
}

TEST_CASE("files: PyTorch's attention, as the page shows it, passes") {
  const string example = content_of(SWA_SOURCE_DIR "/docs/examples/sdpa.py");
  CHECK(contains(content_of(SWA_SOURCE_DIR "/docs/files.md"), "```python\n" + example + "```"));
  CHECK(lines(example).size() <= 30);
  const string python = tool_or_skip("python3");
  if (python.empty()) return;
  if (run(python, {"-c", "import numpy, torch, tomllib"}).status != 0) {
    std::printf("swa test skipped: python3 has no torch\n");
    return;
  }
  const Scratch scratch;
  const string root = exported(scratch, "--suite full");
  const Finished ran = run(python, {SWA_SOURCE_DIR "/docs/examples/sdpa.py", root});
  INFO("stderr: ", ran.err);
  CHECK(ran.status == 0);
  const json report = json::parse(output("verify check " + root + " --format json"));
  CHECK(report["summary"]["fail"] == 0);
  CHECK(report["summary"]["pass"] > 30);
}
