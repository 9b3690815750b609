// The workflow that docs/ offers runs: each of its lines that calls swa, as the CI system would run
// it, and what the lines write can be read.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "process.hpp"
#include "scratch.hpp"
#include "xml.hpp"

using namespace swa::test;
namespace fs = std::filesystem;
using std::string;

namespace {

string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// What follows "run: " where it begins with swa itself.
std::vector<string> swa_lines(const string& workflow) {
  std::vector<string> found;
  for (const string& line : lines(workflow)) {
    const std::size_t at = line.find("run: swa ");
    if (at != string::npos) found.push_back(line.substr(at + 5));
  }
  return found;
}

}  // namespace

TEST_CASE("the workflow of docs runs and what it writes is read") {
  const string bash = tool_or_skip("bash");
  if (bash.empty()) return;
  const string workflow = read(fs::path(SWA_SOURCE_DIR) / "docs/ci/github-workflow.yml");
  const std::vector<string> commands = swa_lines(workflow);
  REQUIRE(commands.size() == 3);
  const Scratch scratch;
  const string path = fs::path(SWA_BINARY).parent_path().string() + ":" + std::getenv("PATH");
  for (const string& command : commands) {
    CAPTURE(command);
    const Finished run = swa::test::run(
        bash, {"-e", "-c", "cd \"$0\"; " + command, scratch.folder()}, {{{"PATH", path}}});
    CHECK(run.status == 0);
    CHECK(run.err.empty());
  }
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(scratch.folder())) {
    CAPTURE(entry.path().string());
    ++files;
    // What was written is kept by the step at the end.
    CHECK(contains(workflow, "            " + entry.path().filename().string() + "\n"));
    const string text = read(entry.path());
    if (entry.path().extension() == ".json") {
      CHECK(nlohmann::json::parse(text)["schema"] == "swa.kv-budget/1");
    } else {
      CHECK_FALSE(everywhere(XmlReader::read(text), "testcase").empty());
    }
  }
  CHECK(files == 3);
}
