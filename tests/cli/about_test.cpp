// What swa says of itself, and how it takes questions that are asked wrongly.
#include <doctest/doctest.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/about.hpp"
#include "process.hpp"

using namespace swa::test;
using nlohmann::json;
using std::string;

namespace {

json report_of(const string& line) {
  return json::parse(output(line + " --format json"));
}

}  // namespace

TEST_CASE("--version begins with the version and tells what was compiled in") {
  const std::vector<string> text = lines(output("--version"));
  REQUIRE(text.size() > 1);
  const json report = report_of("--version");
  CHECK(report["schema"] == "swa.version/1");
  REQUIRE(report["records"].size() == 1);
  const json& facts = report["records"][0];
  CHECK(text[0] == "swa " + facts["version"].get<string>());
  CHECK(report["tool"]["version"] == facts["version"]);
  for (const string key : {"cuda", "cuda_archs", "driver", "device"}) {
    CAPTURE(key);
    REQUIRE(facts.contains(key));
    if (facts[key].is_string()) CHECK(contains(output("--version"), facts[key].get<string>()));
  }
  // A driver or a device is known only where CUDA is compiled in.
  CHECK(facts["cuda"].is_null() == (swa::cuda_facts().runtime.empty()));
  if (facts["cuda"].is_null()) {
    CHECK(facts["cuda_archs"].is_null());
    CHECK(facts["driver"].is_null());
    CHECK(facts["device"].is_null());
    CHECK(text.back() == "device      none");
  }
#if defined(__GNUC__) && !defined(__clang__)
  CHECK(facts["compiler"] == "GNU " + std::to_string(__GNUC__) + "." +
                                 std::to_string(__GNUC_MINOR__) + "." +
                                 std::to_string(__GNUC_PATCHLEVEL__));
#endif
  for (const string key :
       {"compiler", "build_type", "cli11", "fmt", "eigen", "tomlplusplus", "nlohmann_json"}) {
    CAPTURE(key);
    CHECK(contains(output("--version"), " " + facts[key].get<string>() + "\n"));
  }
}

TEST_CASE("--version names the versions of the packages that it was built with") {
  const string dpkg = tool_or_skip("dpkg-query");
  if (dpkg.empty()) return;
  const json facts = report_of("--version")["records"][0];
  const std::map<string, string> packages{{"cli11", "libcli11-dev"},
                                          {"fmt", "libfmt-dev"},
                                          {"eigen", "libeigen3-dev"},
                                          {"tomlplusplus", "libtomlplusplus-dev"},
                                          {"nlohmann_json", "nlohmann-json3-dev"}};
  // All are asked for before the first check: CTest counts what says that it was skipped as
  // skipped, and a check that had failed before would be lost.
  std::map<string, string> versions;
  for (const auto& [key, package] : packages) {
    const Finished asked = run(dpkg, {"--show", "--showformat", "${Version}", package});
    if (asked.status != 0) {
      std::printf("swa test skipped: %s was not installed by dpkg\n", package.c_str());
      return;
    }
    versions[key] = asked.out;
  }
  for (const auto& [key, installed] : versions) {
    CAPTURE(key);
    // "2.1.2+ds-1" is 2.1.2, "1:3.4-1" would be 3.4.
    const string version = installed.substr(installed.find(':') + 1);
    CHECK(version.substr(0, version.find_first_of("+-")) == facts[key].get<string>());
  }
}

TEST_CASE("questions keep their arguments as they were typed") {
  using Typed = std::vector<string>;
  CHECK(report_of("--version")["argv"] == Typed{"--version", "--format", "json"});
  CHECK(json::parse(output("--format=json --devices"))["argv"] ==
        Typed{"--format=json", "--devices"});
}

TEST_CASE("--devices lists the GPUs or says why there are none") {
  const json report = report_of("--devices");
  const json version = report_of("--version")["records"][0];
  const std::vector<string> text = lines(output("--devices"));
  CHECK(report["schema"] == "swa.devices/1");
  const json& summary = report["summary"];
  CHECK(summary["devices"] == report["records"].size());
  for (const string key : {"cuda", "driver"}) CHECK(summary[key] == version[key]);
  if (summary["cuda"].is_null()) {
    CHECK(text == std::vector<string>{"none: this build has no CUDA kernels"});
    CHECK(summary["devices"] == 0);
    CHECK(summary["reason"] == "this build has no CUDA kernels");
    return;
  }
  CHECK(contains(text[0], "CUDA: " + summary["cuda"].get<string>()));
  if (summary["devices"] == 0) {
    REQUIRE(text.size() == 2);
    CHECK(text[1] == "none: " + summary["reason"].get<string>());
    CHECK(version["device"].is_null());
    return;
  }
  CHECK(version["device"] == report["records"][0]["name"]);
  for (const json& gpu : report["records"]) {
    CHECK(gpu["multiprocessors"] > 0);
    CHECK(gpu["memory_bytes"] > 0);
    CHECK(contains(output("--devices"), gpu["name"].get<string>()));
    CHECK(contains(output("--version"),
                   "compute capability " + gpu["compute_capability"].get<string>()));
  }
}

TEST_CASE("help takes a command and is the command's own --help") {
  CHECK(output("help") == output("--help"));
  for (const string& command : lines(output("--words commands"))) {
    CAPTURE(command);
    CHECK(output("help " + command) == output(command + " --help"));
    CHECK(contains(output("help"), "  " + command + " "));
  }
}

TEST_CASE("questions that are asked wrongly are answered with what was probably meant") {
  struct Row {
    string line, sentence, remedy;
  };
  const std::vector<Row> rows{
      {"--hlep", "unknown option '--hlep'", "did you mean '--help'?"},
      {"--versoin", "unknown option '--versoin'", "did you mean '--version'?"},
      {"--device", "unknown option '--device'", "did you mean '--devices'?"},
      {"--version --fromat json", "unknown option '--fromat'", "did you mean '--format'?"},
      {"--version --format jsn", "--format jsn", "did you mean 'json'?"},
      {"--version --format junit", "--format junit", "json"},
      {"--version --format", "--format has no value", ""},
      {"--version --format json --format json", "--format was given more than once", ""},
      {"--version --version", "--version was given more than once", ""},
      {"--version --devices", "two questions", ""},
      {"--version=3", "--version takes no value", ""},
      {"--version verify", "unexpected word 'verify'", ""},
      {"--help --format json", "--help takes no --format", ""},
      {"--completion", "--completion has no value", ""},
      {"--completion=", "--completion has no value", ""},
      {"--completion bsh", "--completion bsh", "'bash'"},
      {"--completion fish", "--completion fish", "bash, zsh"},
      {"--manual verfy", "'verfy'", "'verify'"},
      {"--words model", "--words model", "'models'"},
      {"--nq 5 verify", "'--nq' stands before the command", ""},
      {"--format json kv-budget", "'--format' stands before the command", ""},
      {"help verfy", "unknown command 'verfy'", "did you mean 'verify'?"},
      {"help verify --foo", "unexpected word '--foo'", ""},
      {"help verify kv-budget", "unexpected word 'kv-budget'", ""},
      {"help --help", "'--help'", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.line);
    const Finished run = run_swa(row.line);
    INFO("stderr: ", run.err);
    CHECK(run.status == 2);
    CHECK(run.out.empty());
    const std::vector<string> said = lines(run.err);
    REQUIRE(said.size() == 2);
    CHECK(said[0].starts_with("swa: "));
    CHECK(contains(said[0], row.sentence));
    CHECK(said[1].starts_with("  "));
    CHECK(contains(said[1], row.remedy));
  }
}
