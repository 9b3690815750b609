// Faults that are planted on the GPU, by their names.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/process.hpp"
#include "kernels/forward.hpp"

using nlohmann::json;
using namespace swa::test;
using std::string;

TEST_CASE("portable-planted names its faults with a GPU and without") {
  for (const string name : {"window-one-too-wid", "scale-missing", "", "x*"}) {
    CAPTURE(name);
    const Finished run = run_swa("verify --nq 100 --W 8 --kernel portable-planted:" + name);
    CHECK(run.status == 2);
    CHECK(contains(run.err, "names no fault that is planted on the GPU"));
  }
  CHECK(contains(run_swa("verify --nq 9 --kernel portable-planted:top-lef").err,
                 "did you mean 'top-left'?"));
  if (swa::gpu_absence().empty()) return;
  for (const string name : {"window-one-too-wide", "top-*", "*"}) {
    CAPTURE(name);
    const Finished run = run_swa("verify --nq 100 --W 8 --kernel portable-planted:" + name);
    CHECK(run.status == 3);
    CHECK(contains(run.err, "names GPU kernels, and " + swa::gpu_absence()));
  }
}

TEST_CASE("no other pattern names what is planted on the GPU") {
  const json report =
      json::parse(run_swa("verify --nq 100 --W 8 --dtype bf16 --kernel * --format json").out);
  for (const json& record : report["records"]) {
    CHECK_FALSE(contains(record["kernel"], "planted"));
  }
}

TEST_CASE("the kill matrix says whether faults were planted on a GPU") {
  const Finished run = run_swa("verify --kill-matrix --nq 100 --nk 150 --W 20");
  if (swa::gpu_absence().empty()) {
    CHECK(contains(run.out, "on the GPU"));
    return;
  }
  CHECK(contains(run.out, "GPU kernels: no fault was planted in them, " + swa::gpu_absence()));
  CHECK_FALSE(contains(run.out, "on the GPU"));
  const json report =
      json::parse(run_swa("verify --kill-matrix --nq 100 --nk 150 --W 20 --format json").out);
  CHECK(report["summary"]["gpu_planted"] == 0);
  CHECK_FALSE(report["records"][0].contains("gpu_cases"));
}
