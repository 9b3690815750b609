// swa kernels, in a build with CUDA and in one without.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "files.hpp"
#include "kernels/resources.hpp"
#include "process.hpp"
#include "scratch.hpp"

using namespace swa::test;
using nlohmann::json;
using std::string;

namespace {

const bool kHasKernels = !swa::kernel_resources().empty();

}  // namespace

TEST_CASE("kernels of a build without CUDA end with 3 and say how to get some") {
  if (kHasKernels) return;
  const Scratch scratch;
  for (const string line : {"kernels", "kernels --check", "kernels --kernel sm90-*",
                            "kernels --format json", "kernels --export "}) {
    CAPTURE(line);
    const bool exports = line.ends_with("--export ");
    const Finished run = run_swa(exports ? line + scratch.folder() + "/x.csv" : line);
    CHECK(run.status == 3);
    CHECK(run.out.empty());
    const auto said = lines(run.err);
    REQUIRE(said.size() == 2);
    CHECK(said[0] == "swa kernels: this build has no CUDA kernels");
    CHECK(contains(said[1], "-DSWA_ARCHS="));
  }
  CHECK(names_in(scratch.folder()).empty());
}

TEST_CASE("kernels has help with its options in any build") {
  const string help = output("kernels --help");
  CHECK(contains(help, "Usage: swa kernels"));
  CHECK(contains(help, "--check"));
  CHECK(contains(help, "Example:\n  swa kernels --check"));
}

TEST_CASE("kernels lists every instance with the keys that scripts rely on") {
  if (!kHasKernels) return;
  const json report = json::parse(output("kernels --format json"));
  CHECK(report["schema"] == "swa.kernels/1");
  CHECK(report["records"].size() == swa::kernel_resources().size());
  CHECK(report["summary"]["instances"] == report["records"].size());
  for (const json& record : report["records"]) {
    CAPTURE(record.dump());
    for (const char* key : {"threads", "registers", "spill_bytes", "smem_bytes"}) {
      CHECK(record[key].is_number_integer());
    }
    for (const char* key : {"kernel", "arch", "dtype"}) CHECK(record[key].is_string());
    CHECK(record["mma"].is_array());
    CHECK(record.contains("head_dim"));
    CHECK(record["registers"] > 0);
    const bool in_16_bits = record["dtype"] == "bf16" || record["dtype"] == "fp16";
    CHECK(record["mma"].empty() == (record["kernel"] == "naive" || !in_16_bits));
  }
  for (const json& record :
       json::parse(output("kernels --kernel naive --format json"))["records"]) {
    CHECK(record["kernel"] == "naive");
  }
  CHECK(run_swa("kernels --kernel surely-not").status == 2);
}

TEST_CASE("kernels --check holds for this build") {
  if (!kHasKernels) return;
  const json report = json::parse(output("kernels --check --format json"));
  CHECK(report["summary"]["violations"] == 0);
  std::set<string> checks, tiles;
  for (const json& record : report["records"]) {
    if (record["record"] == "check") {
      CHECK(record["verdict"] == "ok");
      checks.insert(record["check"].get<string>());
    } else {
      tiles.insert(record["kernel"].get<string>());
    }
  }
  CHECK(checks == std::set<string>{"fp32 sums", "as mask-only"});
  CHECK(tiles == std::set<string>{"the chapter's", "portable-prefill"});
}
