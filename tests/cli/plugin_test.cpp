// Kernels of somebody else, through the real binary: right ones, wrong ones, and ones that
// misbehave in every way that swa answers.
#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "folder.hpp"
#include "process.hpp"
#include "scratch.hpp"
#include "verify/judge.hpp"
#include "verify/plugin.hpp"

using namespace swa::test;
using nlohmann::json;
using std::string;

namespace {

const string kFolder = SWA_PLUGINS "/";
// Seconds: no call of these plug-ins takes as long, unless it hangs.
const string kTimeout = kSanitized ? "10" : "1";

string plugin(const string& name) {
  return "plugin:" + kFolder + "lib" + name + ".so";
}

Setup hostile(const string& mode, const string& window = "4") {
  Setup setup;
  setup.environment["SWA_HOSTILE"] = mode;
  if (!window.empty()) setup.environment["SWA_HOSTILE_W"] = window;
  return setup;
}

const string kSweep = "verify --nq 20 --W 3,4,5 --no-probe --no-poison --format json --timeout " +
                      kTimeout + " --kernel cpu-tiled,";

// By kernel, the status of each case; and the reasons.
struct Sweep {
  int status = 0;
  std::vector<string> cpu, plugin, reasons;
};

Sweep sweep(const string& kernel, const Setup& setup) {
  const Finished run = run_swa(kSweep + kernel, setup);
  CHECK_FALSE(run.timed_out);
  INFO("stderr: ", run.err);
  Sweep result;
  result.status = run.status;
  const json report = json::parse(run.out);
  for (const json& record : report["records"]) {
    const bool is_cpu = record["kernel"] == "cpu-tiled";
    (is_cpu ? result.cpu : result.plugin).push_back(record["status"]);
    if (!is_cpu && !record["reason"].is_null()) result.reasons.push_back(record["reason"]);
  }
  return result;
}

const std::vector<string> kAllPass{"pass", "pass", "pass"}, kAllError{"error", "error", "error"};

// Not there, or ended and not yet reaped by whoever inherited it.
bool is_gone(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  string number, name, state;
  return !(file >> number >> name >> state) || state == "Z" || state == "X";
}

bool is_gone_soon(pid_t process) {
  for (int i = 0; i < 100 && !is_gone(process); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return is_gone(process);
}

}  // namespace

TEST_CASE("a right plug-in passes in every mask layout and dtype") {
  for (const string line :
       {"--nq 33 --W 1,7,none --sinks 0,3 --dtype fp64,fp32,bf16,fp16 --heads 4 --kv-heads 2",
        "--nq 40 --nk 20 --W 5 --sink-logits --softcap 5 --head-dim-v 24 --batch 2",
        "--nq 20 --nk 70 --left 4 --right 6 --sinks 0,2",
        "--nq 20 --nk 70 --left none --right none", "--nq 50 --nk 90 --mask chunked:16 --sinks 0,2",
        "--nq 30 --nk 50 --W 9 --anchor top-left", "--nq 9 --W 1Ti",
        "--lengths-q 5,0,9 --lengths-k 12,3,9 --W 4 --heads 2",
        "--lengths-q 5,0,9 --lengths-k 12,3,9 --W 4 --nq 9 --nk 12"}) {
    CAPTURE(line);
    for (const string library : {"reference", "older"}) {
      const json report =
          json::parse(output("verify " + line + " --format json --kernel " + plugin(library)));
      REQUIRE(!report["records"].empty());
      for (const json& record : report["records"]) {
        CHECK(record["status"] == "pass");
        CHECK(record["lse_mismatches"] == 0);
      }
    }
  }
}

TEST_CASE("a plug-in with W as its left count fails and the line to run it again names it") {
  const Finished run =
      run_swa("verify --nq 64 --W 8,9 --format json --kernel " + plugin("planted"));
  CHECK(run.status == 1);
  const json report = json::parse(run.out);
  for (const json& record : report["records"]) {
    CHECK(record["status"] == "fail");
    CHECK(record["kernel"] == plugin("planted"));
    const Finished again = run_swa(record["repro"].get<string>() + " --format json");
    CHECK(json::parse(again.out)["records"][0] == record);
  }
  const Finished refused = run_swa("verify --nq 64 --format json --kernel " + plugin("planted"));
  CHECK(refused.status == 0);
  const json record = json::parse(refused.out)["records"][0];
  CHECK(record["status"] == "unsupported");
  CHECK(record["reason"] == "only causal windows");
}

TEST_CASE("each misbehaviour is an error of its case with a sentence and other cases still run") {
  const string hung = "the plug-in hung in SWA_FORWARD: it did not return within " + kTimeout +
                      (kTimeout == "1" ? " second" : " seconds");
  const string closed = "the plug-in closed descriptors that are not its own in ";
  const string lingers =
      "the plug-in started a process in SWA_FORWARD and did not wait for its end";
  for (const auto& [mode, reason] : std::vector<std::pair<string, string>>{
           {"throw", "the plug-in threw an exception in SWA_FORWARD: no tile for this shape"},
           {"throw-int", "the plug-in threw an exception in SWA_FORWARD"},
           {"describe-throw",
            "the plug-in threw an exception in SWA_DESCRIBE: no tile for this shape"},
           {"segv", "the plug-in was ended by SIGSEGV (Segmentation fault) in SWA_FORWARD"},
           {"null", "the plug-in was ended by SIGSEGV (Segmentation fault) in SWA_FORWARD"},
           {"fpe", "the plug-in was ended by SIGFPE (Floating point exception) in SWA_FORWARD"},
           {"kill", "the plug-in was ended by SIGKILL (Killed) in SWA_FORWARD"},
           {"abort",
            "the plug-in was ended by SIGABRT (abort(), a failed assertion, or an "
            "exception that nothing caught) in SWA_FORWARD"},
           {"exit", "the plug-in ended its process by exit(3) in SWA_FORWARD"},
           {"_exit", "the plug-in ended its process by exit(0) in SWA_FORWARD"},
           {"hang", hung},
           {"spin", hung},
           {"stop", hung},
           {"close", closed + "SWA_FORWARD"},
           {"reopen", closed + "SWA_FORWARD"},
           {"describe-close", closed + "SWA_DESCRIBE"},
           {"fork-linger", lingers},
           {"fork-return", lingers},
           {"past-out", "the plug-in wrote beyond out, as far as 12 elements past its end"},
           {"before-out", "the plug-in wrote beyond out, as far as 1 element before its beginning"},
           {"past-lse", "the plug-in wrote beyond lse, as far as 1 element past its end"},
           {"far-past-out",
            "the plug-in wrote beyond out, as far as 16384 elements or more past its end"},
           {"write-k", "the plug-in wrote into its input k, first at [0, 0, 1, 2]"},
           {"code", "the plug-in returned -1 from SWA_FORWARD, which is no status"},
           {"late-refusal",
            "the plug-in refused in SWA_FORWARD what it took in SWA_DESCRIBE: it "
            "gives no reason"},
           {"fail", "the plug-in failed in SWA_FORWARD: it gives no reason"},
           {"lines", "the plug-in failed in SWA_FORWARD: one?two?[31m"},
           {"message", "the plug-in failed in SWA_FORWARD: " + string(255, 'x')}}) {
    CAPTURE(mode);
    const Sweep found = sweep(plugin("hostile"), hostile(mode));
    CHECK(found.status == 1);
    CHECK(found.cpu == kAllPass);
    CHECK(found.plugin == std::vector<string>{"pass", "error", "pass"});
    REQUIRE(found.reasons.size() == 1);
    CHECK(found.reasons[0] == reason);
  }
}

TEST_CASE("a plug-in that no call can succeed with is an error of each case") {
  for (const auto& [mode, reason] : std::vector<std::pair<string, string>>{
           {"no-begin", "the plug-in does not say which version of swa_plugin.h it was built with"},
           {"version", "the plug-in was built with version 2 of swa_plugin.h, and swa speaks 1"},
           {"short-struct", "the plug-in was built with a struct swa_attention of 64 bytes"},
           {"long-struct", "the plug-in was built with a struct swa_attention of "},
           {"granule", "the plug-in declares a granule of -5 keys"},
           {"memory", "the plug-in declares memory 9"},
           {"describe-code", "the plug-in returned 12 from SWA_DESCRIBE, which is no status"},
           {"load-exit", "the plug-in ended its process by exit(3) while it was loaded"},
           {"load-segv",
            "the plug-in was ended by SIGSEGV (Segmentation fault) while it was loaded"},
           {"load-throw", "the plug-in was ended by SIGABRT ("},
           {"load-hang", "the plug-in hung while it was loaded: it did not return within "}}) {
    CAPTURE(mode);
    const Sweep found = sweep(plugin("hostile"), hostile(mode, ""));
    CHECK(found.status == 1);
    CHECK(found.cpu == kAllPass);
    CHECK(found.plugin == kAllError);
    for (const string& said : found.reasons) CHECK(said.starts_with(reason));
  }
}

TEST_CASE("a file that is no plug-in is an error of each case and says why") {
  const Scratch scratch;
  const string right = content_of(kFolder + "libreference.so");
  const auto changed = [&](const string& name, std::size_t at, char byte) {
    string bytes = right;
    bytes[at] = byte;
    return "plugin:" + scratch.write(name, bytes);
  };
  struct Row {
    string kernel, reason;
  };
  for (const Row& row :
       {Row{plugin("nameless"), "it has no function swa_plugin (C++ needs extern \"C\")"},
        Row{"plugin:" + scratch.write("text.so", "not a library\n"), "it is not a shared library"},
        Row{"plugin:" + scratch.write("empty.so", ""), "it is not a shared library"},
        Row{"plugin:" + scratch.write("cut.so", right.substr(0, 64)), ""},
        Row{"plugin:" + scratch.write("half.so", right.substr(0, right.size() / 2)), ""},
        // e_machine, the class, e_type: another processor, 32 bits, an object file
        Row{changed("machine.so", 18, '\x08'),
            "it was built for another architecture (ELF machine"},
        Row{changed("class.so", 4, 1), "it was built for another architecture"},
        Row{changed("object.so", 16, 1), "it is an ELF file, but not a shared library"},
        Row{string("plugin:") + SWA_BINARY, ""}}) {
    CAPTURE(row.kernel);
    const Sweep found = sweep(row.kernel, {});
    CHECK(found.status == 1);
    CHECK(found.cpu == kAllPass);
    CHECK(found.plugin == kAllError);
    REQUIRE(found.reasons.size() == 3);
    if (row.kernel.ends_with("half.so")) continue;  // the loader may crash on it
    for (const string& said : found.reasons) {
      CHECK(said.starts_with("the plug-in cannot be loaded: " + row.reason));
    }
  }
}

TEST_CASE("what a plug-in prints and forks cleanly and leaves out is no misbehaviour") {
  const Finished printed = run_swa(kSweep + plugin("hostile"), hostile("print"));
  CHECK(printed.status == 0);
  CHECK(json::parse(printed.out)["summary"]["pass"] == 6);
  CHECK(contains(printed.err, "hello from stdout\n"));
  CHECK(contains(printed.err, "hello from stderr\n"));
  CHECK(sweep(plugin("hostile"), hostile("fork")).plugin == kAllPass);

  const Finished closed = [] {
    Setup setup = hostile("print");
    setup.err = Sink::closed;
    return run_swa(kSweep + plugin("hostile"), setup);
  }();
  CHECK(closed.status == 0);

  const Finished no_lse = run_swa(kSweep + plugin("hostile"), hostile("no-lse"));
  CHECK(no_lse.status == 0);
  const json no_lse_report = json::parse(no_lse.out);
  for (const json& record : no_lse_report["records"]) {
    CHECK(record["lse_mismatches"].is_null() == (record["kernel"] != "cpu-tiled"));
  }
  const Sweep refused = sweep(plugin("hostile"), hostile("refuse"));
  CHECK(refused.status == 0);
  CHECK(refused.plugin == std::vector<string>{"pass", "unsupported", "pass"});
  CHECK(refused.reasons == std::vector<string>{"head_dim must be 128"});
}

TEST_CASE("an output that is never written fails") {
  const Finished run = run_swa(kSweep + plugin("hostile"), hostile("nothing"));
  CHECK(run.status == 1);
  const json record = json::parse(run.out)["records"][3];
  CHECK(record["status"] == "fail");
  CHECK(record["nonfinite"] == record["elements"]);
  CHECK(record["lse_mismatches"] == 20);
}

TEST_CASE("a plug-in that eats memory is ended before the machine is") {
  setenv("SWA_HOSTILE", "allocate", 1);
  swa::PluginOptions options;
  options.memory = 256.0 * (1 << 20);
  options.host = SWA_BINARY;
  const swa::Kernel kernel = swa::plugin_kernel(kFolder + "libhostile.so", options);
  unsetenv("SWA_HOSTILE");
  swa::Problem p;
  p.n_q = p.n_k = 20;
  const swa::Inputs inputs = swa::make_inputs(p);
  const swa::Verdict verdict = swa::judge(kernel, p, inputs, swa::dense_oracle(p, inputs));
  CHECK(verdict.status == swa::Status::error);
  CHECK(verdict.reason == "the plug-in took more than 0.2 GiB of memory in SWA_FORWARD");
}

TEST_CASE("a kernel carries the granule that its plug-in declares") {
  swa::PluginOptions options;
  options.host = SWA_BINARY;
  const swa::Kernel reference = swa::plugin_kernel(kFolder + "libreference.so", options);
  CHECK(reference.granule.value_or(0) == 1);
  CHECK(reference.name == plugin("reference"));
  CHECK_FALSE(swa::plugin_kernel(kFolder + "libhostile.so", options).granule);
}

TEST_CASE("hundreds of calls take one process") {
  const Finished run = run_swa("verify --nq 1:300:1 --W 4 --head-dim 4 --kernel " +
                               plugin("reference") + " --no-probe --no-poison --format json");
  CHECK(run.status == 0);
  CHECK(json::parse(run.out)["summary"]["pass"] == 300);
  CHECK(run.seconds < 5 * kSecond);
}

TEST_CASE("no process outlives swa however it ends") {
  const Scratch scratch;
  for (const int signal : {SIGINT, SIGKILL}) {
    for (const string mode : {"hang", "fork-hang", "fork-linger"}) {
      CAPTURE(signal);
      CAPTURE(mode);
      const string notes = scratch.folder() + "/" + mode + std::to_string(signal);
      Setup setup = hostile(mode, "");
      setup.environment["SWA_HOSTILE_NOTES"] = notes;
      setup.signal_after = {kSanitized ? 5 : 0.7};
      setup.signal = signal;
      const Finished run = run_swa("verify --nq 20 --W 4 --kernel " + plugin("hostile"), setup);
      CHECK_FALSE(run.timed_out);
      if (mode != "fork-linger")
        CHECK((signal == SIGINT ? run.status == 130 : run.signal == SIGKILL));
      std::ifstream file(notes);
      int processes = 0;
      for (pid_t process = 0; file >> process; ++processes) CHECK(is_gone_soon(process));
      CHECK(processes == (mode == "fork-hang" ? 2 : 1));
    }
  }
}

TEST_CASE("a question about plug-ins that is asked wrongly has an answer") {
  const Scratch scratch;
  const string comma = scratch.write("a,b.so", "");
  struct Row {
    string line, sentence;
    int status = 2;
  };
  for (const Row& row :
       {Row{"--kernel plugin:./no/such.so", "the plug-in './no/such.so' does not exist"},
        Row{"--kernel plugin:" + scratch.folder(), "is not a file"},
        Row{"--kernel plugin:", "--kernel plugin: names no file"},
        Row{"--kernel plugin:" + comma, "a comma separates kernels, so a path cannot hold one"},
        Row{"--timeout 0", "--timeout 0 is not above 0"},
        Row{"--timeout -1", "--timeout -1 is not above 0"},
        Row{"--timeout x", "--timeout x is not a finite number"},
        Row{"--timeout nan", "--timeout nan is not a finite number"}}) {
    CAPTURE(row.line);
    const Finished run = run_swa("verify --nq 8 " + row.line);
    CHECK(run.status == 2);
    CHECK(run.out.empty());
    CHECK(contains(run.err, row.sentence));
    CHECK(lines(run.err).size() == 2);
  }
  const Finished device = run_swa("verify --nq 8 --kernel " + plugin("hostile"), hostile("device"));
  CHECK(device.status == 3);
  CHECK(contains(device.err, "wants device pointers, and this "));
  const Finished bench = run_swa("bench --nq 8 --kernel " + plugin("reference"));
  CHECK(bench.status == 2);
  CHECK(contains(bench.err, "only swa verify runs plug-ins"));
  CHECK(run_swa("--plugin-host").status == 2);
  CHECK(run_swa("--plugin-host 3 4 1 /no/such.so").status == 2);
}

TEST_CASE("a path that a shell would cut is quoted in the line to run it again") {
  const Scratch scratch;
  const string path = scratch.folder() + "/my kernel.so";
  std::filesystem::copy_file(kFolder + "libplanted.so", path);
  const Finished run = run_swa({"verify", "--nq", "64", "--W", "8", "--kernel", "plugin:" + path});
  CHECK(run.status == 1);
  CHECK(contains(run.out, "--kernel 'plugin:" + path + "'"));
}
