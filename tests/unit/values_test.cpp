#include "cli/values.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>

#include "cli/suggest.hpp"
#include "error.hpp"

using namespace swa;
using namespace swa::cli;

namespace {

std::string complaint(const std::function<void()>& body) {
  try {
    body();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string count_complaint(const std::string& text, Limits limits = {}) {
  return complaint([&] { parse_count("--nq", text, limits); });
}

std::string counts_complaint(const std::string& text) {
  return complaint([&] { parse_counts("--nq", text); });
}

}  // namespace

TEST_CASE("counts and their suffixes") {
  CHECK(parse_count("--nq", "1") == 1);
  CHECK(parse_count("--nq", "4Ki") == 4096);
  CHECK(parse_count("--nq", "2Mi") == 2 << 20);
  CHECK(parse_count("--nq", "1Ti") == Index{1} << 40);
  CHECK(parse_count("--nq", "1152921504606846976") == kMaxIndex);
  CHECK(parse_count("--nq", "1048576Ti") == kMaxIndex);
  CHECK(parse_count("--sinks", "0", {0, kMaxIndex}) == 0);
}

TEST_CASE("what is no count is refused") {
  CHECK(count_complaint("") == "--nq has no value");
  for (const char* text :
       {"x", "1.5", "1e3", "4K", "4ki", " 4", "4 ", "+4", "0x10", "Ki", "1Ki2"}) {
    CAPTURE(text);
    CHECK(count_complaint(text) == fmt::format("--nq {} is not a whole number", text));
  }
  CHECK(count_complaint("0") == "--nq 0 is less than 1");
  CHECK(count_complaint("-5") == "--nq -5 is less than 1");
  CHECK(count_complaint("-1000000000000000000000000000000") ==
        "--nq -1000000000000000000000000000000 is less than 1");
  for (const char* text : {"1000000000000000000000000000000", "1152921504606846977",
                           "9223372036854775807", "9223372036854775808", "1048577Ti"}) {
    CAPTURE(text);
    CHECK(count_complaint(text) == fmt::format("--nq {} is too large", text));
  }
  CHECK(count_complaint("70000", {1, 65536}) == "--nq 70000 is too large");
}

TEST_CASE("lists and ranges") {
  using Counts = std::vector<Index>;
  CHECK(parse_counts("--W", "128,512") == Counts{128, 512});
  CHECK(parse_counts("--W", "64:256:64") == Counts{64, 128, 192, 256});
  CHECK(parse_counts("--W", "64:250:64") == Counts{64, 128, 192});
  CHECK(parse_counts("--W", "1Ki:8Ki:*2,7") == Counts{1024, 2048, 4096, 8192, 7});
  CHECK(parse_counts("--W", "5:5:1") == Counts{5});
  CHECK(parse_counts("--W", "1:1152921504606846976:*1048576").size() == 4);
  for (const char* text : {"", ",", "1,", ",1", "1,,2", "1:2", "5:1:1", "1:2:3:4", "1:5:0",
                           "1:5:*1", "1:5:*", "::", "1:1000000:1"}) {
    CAPTURE(text);
    CHECK(counts_complaint(text) != "");
  }
}

TEST_CASE("reals and seeds") {
  CHECK(parse_real("--softcap", "1e-3") == 0.001);
  CHECK(parse_real("--softcap", "-2.5") == -2.5);
  for (const char* text : {"", "x", "1,5", "nan", "inf", "-inf", "1e999", "1.0x"}) {
    CAPTURE(text);
    CHECK(complaint([&] { parse_real("--softcap", text); }) != "");
  }
  CHECK(parse_seed("--seed", "18446744073709551615") == 18446744073709551615U);
  for (const char* text : {"", "-1", "18446744073709551616", "x"}) {
    CAPTURE(text);
    CHECK(complaint([&] { parse_seed("--seed", text); }) != "");
  }
}

TEST_CASE("the nearest word") {
  const std::vector<std::string> words{"verify", "tile-map", "kv-budget"};
  CHECK(nearest("verfy", words) == "verify");
  CHECK(nearest("tilemap", words) == "tile-map");
  CHECK(nearest("kv", words) == std::nullopt);
  CHECK(nearest("kv-", words) == "kv-budget");
  CHECK(nearest("", words) == std::nullopt);
  CHECK(did_you_mean("verfy", words) == "did you mean 'verify'?");
  CHECK(did_you_mean("zzz", words) == "choose from verify, tile-map, kv-budget");
}
