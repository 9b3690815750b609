// tools/peers, as far as it needs no GPU and no PyTorch.
#include <doctest/doctest.h>

#include <string>

#include "process.hpp"

using namespace swa::test;

TEST_CASE("peers: windows are converted, ratios counted and a broken process starts again") {
  const std::string python = tool_or_skip("python3");
  if (python.empty()) return;
  const Finished ran = run(python, {SWA_SOURCE_DIR "/tests/peers/peers_test.py"},
                           {.environment = {{"SWA_SOURCE_DIR", SWA_SOURCE_DIR}}});
  INFO("stdout: ", ran.out);
  INFO("stderr: ", ran.err);
  CHECK(ran.status == 0);
  CHECK(contains(ran.out, "OK"));
}
