// For which GPUs tools/run.sh compiles the CUDA kernels, on machines that are played.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "process.hpp"
#include "scratch.hpp"

using namespace swa::test;
namespace fs = std::filesystem;
using std::string;

namespace {

const fs::path kTools = fs::path(SWA_SOURCE_DIR) / "tools";

// A machine with an nvcc that knows sm_75, sm_80, sm_89, sm_90 and sm_100, or with none, and with
// what nvidia-smi prints of the GPUs.
class Machine {
 public:
  Machine(const string& gpus, bool nvcc) : nvcc_(nvcc) {
    program("nvidia-smi", gpus);
    program("nvcc", "sm_75\nsm_80\nsm_89\nsm_90\nsm_100\n");
  }

  // archs_for of tools/archs.sh, which prints what is to be compiled.
  Finished archs_for(const string& arguments, const string& asked = "") const {
    const string script =
        "set -euo pipefail; say() { printf '%s\\n' \"$*\" >&2; }; source \"$0\"; " +
        string(nvcc_ ? "" : "find_nvcc() { return 1; }; ") + "archs_for \"$@\"";
    Words typed{"-c", script, (kTools / "archs.sh").string()};
    for (const string& word : words(arguments)) typed.push_back(word);
    const string path = folder_.folder() + ":" + std::getenv("PATH");
    return run("/bin/bash", typed, {{{"PATH", path}, {"SWA_ARCHS", asked}, {"CUDACXX", ""}}});
  }

 private:
  void program(const string& name, const string& prints) {
    const string path = folder_.write(name, "#!/bin/sh\nprintf '" + prints + "'\n");
    fs::permissions(path, fs::perms::owner_all);
  }

  Scratch folder_;
  bool nvcc_;
};

}  // namespace

TEST_CASE("run.sh compiles the kernels for the GPUs that are here") {
  struct Row {
    string gpus, archs;
    bool silent;
  };
  const std::vector<Row> rows{
      {"9.0\n", "90a\n", true},
      {"8.9\n8.9\n", "89\n", true},
      {"8.0\n9.0\n10.0\n", "100;80;90a\n", true},
      {"7.5\n", "\n", false},   // too old
      {"12.0\n", "\n", false},  // this nvcc does not know it
      {"12.0\n8.0\n", "80\n", false},
      {"", "\n", true},
      {"NVIDIA-SMI has failed\n", "\n", true},
      {"[N/A]\n", "\n", true},
  };
  for (const Row& row : rows) {
    CAPTURE(row.gpus);
    const Finished said = Machine(row.gpus, true).archs_for("verify --W 100");
    CAPTURE(said.err);
    CHECK(said.status == 0);
    CHECK(said.out == row.archs);
    CHECK(lines(said.err).size() == (row.silent ? 0 : 1));
  }
}

TEST_CASE("run.sh says why a GPU gets no kernels where nvcc is missing") {
  const Finished said = Machine("9.0\n", false).archs_for("verify");
  CHECK(said.status == 0);
  CHECK(said.out == "\n");
  CHECK(said.err ==
        "the CUDA kernels are not built: there is a GPU, but nvcc is neither on PATH nor in "
        "/usr/local/cuda/bin\n");
  CHECK(Machine("", false).archs_for("kernels").out == "\n");
}

TEST_CASE("run.sh compiles no kernels for commands that do not use them") {
  const Machine machine("9.0\n", true);
  for (const string line : {"kv-budget --model gemma2-27b", "tile-map --W 128", "ring-sim",
                            "trap-demo nan", "tile-map --nq 8 --kernel portable-prefill",
                            "help verify", "--help", "--completion bash", "", "--manual verify"}) {
    CAPTURE(line);
    const Finished said = machine.archs_for(line, line.empty() ? "all" : "");
    CHECK(said.out.empty());
    CHECK(said.err.empty());
    CHECK(machine.archs_for(line, "all").out.empty());
  }
  for (const string line :
       {"verify", "bench", "kernels --check", "reproduce --check", "--version",
        "trap-demo nan --kernel=portable-prefill", "--format json --devices", "--words=kernels"}) {
    CAPTURE(line);
    CHECK(machine.archs_for(line).out == "90a\n");
  }
}

TEST_CASE("SWA_ARCHS decides before the GPU does") {
  const Machine machine("9.0\n", true);
  CHECK(machine.archs_for("verify", "80,89").out == "80;89\n");
  CHECK(machine.archs_for("verify", "80;89").out == "80;89\n");
  CHECK(machine.archs_for("verify", "all").out == "all\n");
  for (const string line : {"verify", "kernels"})
    CHECK(machine.archs_for(line, "none").out.empty());
  CHECK(Machine("", true).archs_for("kernels").out == "80;90a\n");
  CHECK(Machine("8.9\n", true).archs_for("kernels").out == "89\n");
}

TEST_CASE("run.sh knows the commands that include the kernels") {
  const Words commands = lines(output("--words commands"));
  // Files whose name begins with no command, and the command lines that they belong to.
  const std::map<string, Words> shared{{"choose", {}},  // names kernels, and runs none
                                       {"gpu_bench", {"bench", "reproduce"}},
                                       {"gpu_kill_rows", {"verify"}},
                                       {"nan_kernels", {"trap-demo nan --kernel *"}},
                                       {"run_cases", {"verify", "reproduce"}},
                                       {"compile_check", {"kernels", "reproduce"}},
                                       {"gpu_figures", {"reproduce"}},
                                       {"tile_kernels", {}}};  // plans launches, and runs nothing
  const Machine machine("9.0\n", true);
  std::size_t seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kTools / "swa")) {
    const string folder = entry.path().parent_path().filename().string();
    if (folder != "commands" && folder != "chapter") continue;
    std::ifstream file(entry.path());
    const string text((std::istreambuf_iterator<char>(file)), {});
    if (!contains(text, "#include \"kernels/")) continue;
    CAPTURE(entry.path().string());
    ++seen;
    const string stem = entry.path().stem().string();
    Words owners;
    for (const string& command : commands) {
      string name = command;
      std::replace(name.begin(), name.end(), '-', '_');
      if (stem == name || stem.starts_with(name + "_")) owners.push_back(command);
    }
    if (owners.empty()) {
      REQUIRE(shared.contains(stem));
      owners = shared.at(stem);
    }
    for (const string& command : owners) {
      CAPTURE(command);
      CHECK(machine.archs_for(command).out == "90a\n");
    }
  }
  CHECK(seen > 1);
}
