// The files that fuzzing starts from: those named valid-… are read and all others refused, each
// with a sentence.
#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <string>

#include "bytes.hpp"
#include "folder.hpp"
#include "fuzz/targets.hpp"

namespace fs = std::filesystem;
using swa::test::bytes_of;
using swa::test::content_of;

namespace {

void check_corpus(const std::string& folder, const std::function<bool(swa::fuzz::Bytes)>& target) {
  std::size_t taken = 0, refused = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(SWA_SOURCE_DIR) / "tests/fuzz/corpus" / folder)) {
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    const bool is_taken = target(bytes_of(content_of(entry.path().string())));
    CHECK(is_taken == name.starts_with("valid-"));
    ++(is_taken ? taken : refused);
  }
  CHECK(taken >= 2);
  CHECK(refused >= 10);
}

}  // namespace

TEST_CASE("the npy files that fuzzing starts from are read or refused as they should") {
  check_corpus("npy", swa::fuzz::npy);
}

TEST_CASE("the safetensors files that fuzzing starts from are read or refused as they should") {
  check_corpus("safetensors", swa::fuzz::safetensors);
}

TEST_CASE("the case files that fuzzing starts from are read or refused as they should") {
  check_corpus("cases", swa::fuzz::cases);
}

TEST_CASE("the configs that fuzzing starts from are read or refused as they should") {
  check_corpus("configs", swa::fuzz::configs);
}

TEST_CASE("the GGUF files that fuzzing starts from are read or refused as they should") {
  check_corpus("ggufs", swa::fuzz::ggufs);
}
