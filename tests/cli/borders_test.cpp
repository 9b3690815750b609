// Sizes at the borders of 32 and 64 bits, in every option of every command: right or refused, never
// wrapped.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "process.hpp"

using namespace swa::test;
using nlohmann::json;
using std::string;
using std::vector;

namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t k31 = std::int64_t{1} << 31, k32 = std::int64_t{1} << 32,
                       k60 = std::int64_t{1} << 60;
const vector<std::int64_t> kBorders{k31 - 1, k31, k31 + 1, k32 - 1, k32, k32 + 1, k60 - 1, k60};

// Above 2^60. The ones beyond 2^63 and 2^64 would wrap to something small or negative.
const vector<string> kBeyond = words(
    "1152921504606846977 9223372036854775807 9223372036854775808 18446744073709551616 "
    "18446744073709551617 36893488147419103240 1048577Ti 8388608Ti 16777216Ti 16777217Ti "
    "17179869185Gi 18014398509481985Ki");

bool fits(Wide value) {
  return value <= INT64_MAX;
}

// Of JSON, where numbers beyond 2^53 are strings.
std::int64_t whole(const json& value) {
  return value.is_string() ? std::stoll(value.get<string>()) : value.get<std::int64_t>();
}

string text(std::int64_t number) {
  return std::to_string(number);
}

Finished quick(const string& line) {
  const Finished run = run_swa(line, {.timeout = 10});
  CHECK_FALSE(run.timed_out);
  CHECK(run.signal == 0);
  if (!kSanitized) CHECK(run.peak_mib < 100);
  return run;
}

// The last record of a line that is answered, or null where it is refused with a sentence.
json record_of(const string& line) {
  const Finished run = quick(line + " --format json");
  INFO("swa ", line, ": ", run.err);
  if (run.status != 0) {
    CHECK((run.status == 2 || run.status == 3));
    CHECK(lines(run.err).size() == 2);
    CHECK(run.out.empty());
    return {};
  }
  return json::parse(run.out)["records"].back();
}

// Exact in 128 bits: a number, or its digits where JSON would lose some.
void check_count(const string& line, const string& key, Wide expected) {
  CAPTURE(line);
  CAPTURE(key);
  const json record = record_of(line);
  REQUIRE_FALSE(record.is_null());
  const string digits = fmt::format("{}", expected);
  CHECK((record[key].is_string() ? record[key].get<string>() : record[key].dump()) == digits);
}

// Pairs of a causal window over n tokens.
Wide pairs(Wide n, Wide W) {
  const Wide w = std::min(n, W);
  return n * w - w * (w - 1) / 2;
}

struct Asked {
  string command, option;
  bool positional;
};

vector<Asked> options_with_values() {
  vector<Asked> all;
  for (const swa::cli::CommandRow& command : swa::cli::Program().table().commands) {
    for (const swa::cli::OptionRow& option : command.options) {
      if (option.takes_value) {
        all.push_back({command.name, option.names.front(), option.positional});
      }
    }
  }
  return all;
}

bool is_real(const Asked& asked) {
  return asked.option == "--scale" || asked.option == "--softcap" ||
         asked.option == "--max-seconds" || asked.option == "--timeout" ||
         asked.option == "--reserve";
}

// Names of files and folders may be digits.
bool is_name(const Asked& asked) {
  const vector<string> names{"--out",  "--output", "--lse",  "--q",        "--k",   "--v",
                             "--dump", "--config", "--gguf", "--baseline", "--from"};
  return std::find(names.begin(), names.end(), asked.option) != names.end();
}

bool is_bytes(const Asked& asked) {
  return asked.option == "--memory" || asked.option == "--weights" || asked.option == "--under";
}

string line_of(const Asked& asked, const string& value) {
  const bool sized = asked.option == "--nq" || asked.option == "--nk" ||
                     asked.option == "--suite" || asked.option == "--lengths-q" ||
                     asked.option == "--cases" || asked.option == "--match" ||
                     asked.option == "--random";
  const bool has_problem =
      asked.command == "tile-map" || asked.command == "verify" || asked.command == "bench";
  string line = asked.command;
  if (has_problem && !sized) line += " --nq 8";
  if (asked.option == "--reach") line += " --W 4";
  if (asked.option == "--weights" || asked.option == "--reserve") line += " --memory 80GiB";
  if (asked.option == "--under") line += " --solve context";
  if (asked.option == "--solve") line += " --under 80GiB";
  if (asked.command == "trap-demo" && !asked.positional) line += " nan";
  const bool sizes_nan = asked.option == "--n" || asked.option == "--kernel";
  if (asked.command == "trap-demo" && !sizes_nan) line += " --n 70";
  return line + (asked.positional ? " " : " " + asked.option + " ") + value;
}

}  // namespace

TEST_CASE("no option takes a count beyond 2^60") {
  std::size_t counts = 0;
  for (const Asked& asked : options_with_values()) {
    // A seed has 64 bits.
    if (asked.option == "--seed" || is_real(asked) || is_name(asked)) continue;
    for (const string& value : kBeyond) {
      const string line = line_of(asked, value);
      CAPTURE(line);
      const Finished run = quick(line);
      INFO("stderr: ", run.err);
      CHECK(lines(run.err).size() == 2);
      // A build without CUDA kernels has no names to compare with.
      if (run.status == 3 && contains(run.err, "has no CUDA kernels")) continue;
      CHECK(run.status == 2);
      CHECK(contains(run.err, value));
      counts += contains(run.err, "too large");
    }
  }
  CHECK(counts > 20 * kBeyond.size());
}

TEST_CASE("every option answers or refuses a size at a border") {
  for (const Asked& asked : options_with_values()) {
    if (is_real(asked)) continue;
    for (const std::int64_t size : kBorders) {
      const string line = line_of(asked, text(size));
      CAPTURE(line);
      const Finished run = quick(line);
      INFO("stderr: ", run.err);
      // What is asked for may not fit into so many bytes.
      const bool answers = run.status == 0 || (run.status == 1 && is_bytes(asked));
      CHECK((answers || run.status == 2 || run.status == 3));
      CHECK(run.out.empty() == !answers);
      CHECK(lines(run.err).size() == (answers ? 0 : 2));
    }
  }
}

TEST_CASE("ranges that end at a border end there") {
  for (const std::int64_t size : kBorders) {
    const string range = text(size - 2) + ":" + text(size) + ":1";
    const Finished run = quick("tile-map --nq 1 --nk " + range + " --W 1 --format json");
    CHECK(run.status == 0);
    const json records = json::parse(run.out)["records"];
    REQUIRE(records.size() == 3);
    CHECK(whole(records[2]["n_k"]) == size);
  }
  CHECK(quick("tile-map --nq 1 --nk 1:" + text(k60) + ":*2 --W 1").status == 0);
}

TEST_CASE("tile-map counts pairs at the borders by the closed form") {
  for (const std::int64_t n : kBorders) {
    for (const std::int64_t W :
         {std::int64_t{1}, std::int64_t{2}, std::int64_t{4096}, k31, k32 + 1, k60}) {
      const string window = " --W " + text(W);
      // One tile of rows, so that the number of tiles is no obstacle.
      check_count("tile-map --nq " + text(n) + " --BM " + text(n) + " --BN " + text(n) + window,
                  "visible_pairs", pairs(n, W));
      check_count("tile-map --nq 1 --nk " + text(n) + window, "visible_pairs", std::min(n, W));
    }
    const Wide all = static_cast<Wide>(n) * 7;
    check_count("tile-map --nq 7 --nk " + text(n) + " --no-causal", "visible_pairs", all);
    check_count("tile-map --nq 7 --nk " + text(n) + " --left " + text(n) + " --right " + text(n),
                "visible_pairs", all);
    // Query r of 7 sees keys up to n - 7 + r: all of them are sink tokens.
    check_count("tile-map --nq 7 --nk " + text(n) + " --W 1 --sinks " + text(n), "visible_pairs",
                all - 21);
    check_count("tile-map --nq 7 --nk " + text(n) + " --BM 1 --BN 1 --W 1", "skipped", all - 7);
  }
}

TEST_CASE("tile-map gives work at the borders as positive numbers") {
  for (const std::int64_t n : {k31, k32, k60}) {
    for (const string head_dim : {"1", "1048576"}) {
      const json record = record_of("tile-map --nq 7 --nk " + text(n) + " --head-dim " + head_dim);
      REQUIRE_FALSE(record.is_null());
      for (const string key : {"useful_flops", "issued_flops", "least_bytes", "walked_bytes"}) {
        CAPTURE(key);
        REQUIRE(record[key].is_number());
        CHECK(record[key].get<double>() >= static_cast<double>(n));
      }
      CHECK(record["issued_flops"].get<double>() >= record["useful_flops"].get<double>());
      CHECK(record["walked_bytes"].get<double>() >= record["least_bytes"].get<double>());
    }
  }
}

TEST_CASE("kv-budget counts bytes at the borders by the closed form or refuses") {
  for (const string model : {"mistral-7b-v0.1", "gemma2-27b", "gpt-oss-120b"}) {
    const json one = record_of("kv-budget --model " + model + " --ctx 1");
    const Wide local = whole(one["layers_local"]), global = whole(one["layers_global"]);
    const Wide of_layer = whole(one["bytes"]) / (local + global);
    const Wide W = whole(one["window"]);
    for (const std::int64_t size : kBorders) {
      for (const std::int64_t other : {std::int64_t{1}, std::int64_t{5}, k31, k32, k60}) {
        for (const bool as_batch : {false, true}) {
          const Wide ctx = as_batch ? other : size, batch = as_batch ? size : other;
          const Wide kept = local * std::min(ctx, W) + global * ctx;
          const Wide full = (local + global) * ctx;
          // A product of three of these passes 128 bits; what passes 64 bits is refused anyway.
          const bool small = static_cast<double>(full) * static_cast<double>(batch) < 1e30;
          const string line = "kv-budget --model " + model + " --ctx " +
                              text(static_cast<std::int64_t>(ctx)) + " --batch " +
                              text(static_cast<std::int64_t>(batch));
          CAPTURE(line);
          const Wide all_global = small ? full * batch * of_layer : Wide{INT64_MAX} + 1;
          if (fits(all_global)) {
            check_count(line, "bytes_all_global", all_global);
            check_count(line, "bytes", kept * batch * of_layer);
          } else {
            CHECK(record_of(line).is_null());
          }
        }
      }
    }
  }
}

TEST_CASE("a window or a tile at a border does what the largest small one does") {
  const auto without_repro = [](json record) {
    for (const string key : {"window", "left", "repro"}) record.erase(key);
    return record;
  };
  const json plain = record_of("verify --nq 70 --nk 90 --W 90");
  const json nan = record_of("trap-demo nan --n 70 --W 70");
  const json one_tile = record_of("trap-demo nan --n 70 --W 9 --BM 70 --BN 70");
  for (const std::int64_t size : kBorders) {
    const string s = text(size);
    CAPTURE(s);
    CHECK(without_repro(record_of("verify --nq 70 --nk 90 --W " + s)) == without_repro(plain));
    CHECK(without_repro(record_of("trap-demo nan --n 70 --W " + s)) == without_repro(nan));
    CHECK(without_repro(record_of("trap-demo nan --n 70 --W 9 --BM " + s + " --BN " + s)) ==
          without_repro(one_tile));
    CHECK(record_of("trap-demo off-by-one --n 70 --W " + s)["rows_affected"] == 0);
    CHECK(record_of("trap-demo rope-slot --n 9 --W " + s)["first_wrong_step"].is_null());
    CHECK(record_of("verify --nq 7 --seed " + s)["seed"].dump().find(s) != string::npos);
  }
}

TEST_CASE("ring-sim counts pages at the borders") {
  for (const std::int64_t size : kBorders) {
    check_count("ring-sim --page " + text(size), "max_live_pages", 1);
    check_count("ring-sim --page " + text(size), "live_slots", size);
  }
}
