// kv-budget as people and scripts run it: layouts, files of models, what fits, inverse questions.
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "process.hpp"
#include "scratch.hpp"

using namespace swa::test;
using nlohmann::json;
using std::string;
using std::vector;

namespace {

json records_of(const string& line) {
  return json::parse(output(line + " --format json"))["records"];
}

json records_of(const string& line, const string& kind) {
  json chosen = json::array();
  for (const json& record : records_of(line)) {
    if (record.value("record", "") == kind) chosen.push_back(record);
  }
  return chosen;
}

const string kConfig =
    R"({"model_type": "gemma3_text", "num_hidden_layers": 26, "num_attention_heads": 4,
        "num_key_value_heads": 1, "head_dim": 256, "hidden_size": 1152, "sliding_window": 512,
        "sliding_window_pattern": 6, "max_position_embeddings": 32768,
        "vision_config": {"window_size": 14}, "cache_implementation": "hybrid"})";

}  // namespace

TEST_CASE("kv-budget puts layouts side by side and each record gives itself again") {
  const string line =
      "kv-budget --model gpt-oss-20b,gemma-3-27b --ctx 8Ki,128Ki --dtype fp8 --tp 2 --batch 3 "
      "--layout logical,vllm:block-size=32:max-num-batched-tokens=2Ki,sglang";
  const json records = records_of(line);
  REQUIRE(records.size() == 12);
  for (const json& record : records) {
    const string repro = record["repro"];
    CAPTURE(repro);
    const json again = records_of(repro.substr(4));
    REQUIRE(again.size() == 1);
    CHECK(again[0] == record);
    CHECK(record["dtype"] == "fp8_e4m3");
    const auto sum =
        record["bytes_global"].get<std::int64_t>() + record["bytes_local"].get<std::int64_t>();
    CHECK(record["bytes"] == sum);
    for (const char* key :
         {"model", "layout", "context", "batch", "bytes_all_global", "saving", "layers_global",
          "layers_local", "max_positions", "supported", "assumptions"}) {
      CAPTURE(key);
      CHECK(record.contains(key));
    }
  }
  CHECK(records[0]["model"] == "gpt-oss-20b");
  CHECK(records[1]["layout"] == "vllm:block-size=32:max-num-batched-tokens=2Ki");
  // The published name of a model is its JSON name, whatever was typed.
  CHECK(records_of("kv-budget --model google/gemma-2-27b --ctx 8Ki")[0]["model"] == "gemma-2-27b");
}

TEST_CASE("the parts of a budget add up to it") {
  const string line = "kv-budget --model all --layout all --ctx 50000 --batch 2 --breakdown";
  std::size_t answered = 0;
  json parts = json::object();
  for (const json& part : records_of(line, "part")) {
    const string of = part["model"].get<string>() + " " + part["layout"].get<string>();
    parts[of] = parts.value(of, std::int64_t{0}) + part["bytes"].get<std::int64_t>();
  }
  for (const json& record : records_of(line)) {
    if (record.contains("record")) continue;
    const string of = record["model"].get<string>() + " " + record["layout"].get<string>();
    CAPTURE(of);
    if (record["bytes"].is_null()) {
      CHECK_FALSE(record["note"].get<string>().empty());
      CHECK(record["supported"] == false);
      continue;
    }
    ++answered;
    CHECK(parts.value(of, std::int64_t{0}) == record["bytes"].get<std::int64_t>());
  }
  CHECK(answered > 600);
}

TEST_CASE("a question over the whole catalogue and all layouts is answered at once") {
  const Finished run =
      run_swa("kv-budget --model all --layout all --ctx 128Ki --memory 80GiB --bandwidth 4.8TB/s");
  CHECK(run.status == 1);  // not all of them fit
  CHECK(lines(run.out).size() > 900);
  if (!kSanitized) CHECK(run.seconds < 0.5);  // 0.04 s on an idle machine
}

TEST_CASE("a config.json is read and explained") {
  const Scratch scratch;
  std::filesystem::create_directory(scratch.folder() + "/gemma-3-1b");
  const string path = scratch.write("gemma-3-1b/config.json", kConfig);
  const json record = records_of("kv-budget --config " + path + " --ctx 32Ki")[0];
  CHECK(record["model"] == "gemma-3-1b");
  CHECK(record["bytes"] == 139 << 20);
  CHECK(record["repro"] ==
        "swa kv-budget --config " + path + " --ctx 32768 --dtype bf16 --batch 1");
  const string text = output("kv-budget --config " + path + " --ctx 32Ki --explain");
  CHECK(contains(text, "26 layers: LLLLLGLLLLLGLLLLLGLLLLLGLL"));
  CHECK(contains(text, "sliding_window_pattern"));
  CHECK(contains(text, "a hint for the cache of transformers"));
  CHECK_FALSE(contains(text, "window_size"));  // of the vision part
  const json origins = records_of("kv-budget --config " + path + " --explain", "origin");
  CHECK(origins.size() >= 6);
  for (const json& origin : origins) CHECK(origin["model"] == "gemma-3-1b");
  // Beside a model of the catalogue, with a name that a shell would take apart.
  const string odd = scratch.write("it's a config.json", kConfig);
  const Finished both = run_swa(
      {"kv-budget", "--config", odd, "--model", "gemma-3-1b", "--ctx", "32Ki", "--format", "json"});
  REQUIRE(both.status == 0);
  const json two = json::parse(both.out)["records"];
  REQUIRE(two.size() == 2);
  CHECK(two[0]["bytes"] == two[1]["bytes"]);
  CHECK(contains(two[0]["repro"].get<string>(), "it'\\''s a config.json'"));
}

TEST_CASE("files that are no model are refused by name") {
  const Scratch scratch;
  for (const string option : {"--config", "--gguf"}) {
    for (const string& path :
         {string("/nonexistent"), scratch.folder(), scratch.write("empty", ""),
          scratch.write("cut", kConfig.substr(0, 100)), scratch.write("list", "[1, 2]"),
          scratch.write("bytes", string("\0\xff\0\xff", 4)), string("/dev/zero")}) {
      CAPTURE(option);
      CAPTURE(path);
      const Finished run = run_swa({"kv-budget", option, path}, {.timeout = 5});
      CHECK(run.status == 2);
      CHECK(run.out.empty());
      CHECK(contains(run.err, path));
    }
  }
  for (const auto& [key, value] :
       vector<std::pair<string, string>>{{"num_hidden_layers", "1000000000"},
                                         {"num_hidden_layers", "-1"},
                                         {"num_key_value_heads", "-4"},
                                         {"head_dim", "\"x\""},
                                         {"sliding_window", "4.5"},
                                         {"layer_types", "[\"what\"]"},
                                         {"max_position_embeddings", "true"}}) {
    json config = json::parse(kConfig);
    config[key] = json::parse(value);
    const string path = scratch.write("config.json", config.dump());
    CAPTURE(key);
    const Finished run = run_swa({"kv-budget", "--config", path});
    CHECK(run.status == 2);
    CHECK(contains(run.err, key));
  }
}

TEST_CASE("what fits decides the exit status") {
  const string line = "kv-budget --model gpt-oss-20b --ctx 128Ki --layout logical,vllm ";
  CHECK(run_swa(line + "--memory 3.2GiB").status == 0);
  // 3,426,091,008 bytes and the null block of 24 MiB.
  CHECK(run_swa(line + "--memory 3426484223B").status == 1);
  CHECK(run_swa(line + "--memory 3426484224B").status == 0);
  CHECK(run_swa(line + "--memory 6.4GiB --weights 3GiB").status == 0);
  CHECK(run_swa(line + "--memory 6.4GiB --weights 3GiB --reserve 10%").status == 1);
  const json record = records_of("kv-budget --model mistral-7b-v0.1 --ctx 8Ki --memory 1GiB")[0];
  CHECK(record["fits"] == true);
  CHECK(record["most_sequences"] == 2);
  CHECK(record["most_context"].is_null());  // the window holds from 4096 on
  CHECK(contains(output("kv-budget --model mistral-7b-v0.1 --ctx 8Ki --memory 1GiB"), "no end"));
}

TEST_CASE("inverse questions stand beside the neighbour that fails") {
  const json rows =
      records_of("kv-budget --model gemma2-27b-5to1 --ctx 128Ki --solve ratio --under 10GiB");
  vector<string> values;
  for (const json& row : rows) {
    values.push_back(row["value"].get<string>() + " " + (row["fits"] == true ? "yes" : "no") + " " +
                     std::to_string(row["bytes"].get<std::int64_t>()));
  }
  CHECK(values == vector<string>{"37:9 yes 9974054912", "36:10 no 11039408128",
                                 "4:1 yes 9974054912", "3:1 no 12104761344", "5:1 yes 8908701696",
                                 "4:1 no 11039408128"});
  for (const string quantity : {"window", "context", "batch"}) {
    CAPTURE(quantity);
    const string ctx = quantity == "context" ? "" : " --ctx 128Ki";
    const string line = "kv-budget --model gemma-3-27b --layout logical,llama.cpp --under 40GiB" +
                        ctx + " --solve " + quantity;
    const json pairs = records_of(line);
    REQUIRE(pairs.size() == 4);
    for (std::size_t i = 0; i < 4; i += 2) {
      CHECK(pairs[i]["fits"] == true);
      CHECK(pairs[i + 1]["fits"] == false);
      CHECK(pairs[i + 1]["number"] == pairs[i]["number"].get<std::int64_t>() + 1);
    }
  }
  CHECK(run_swa("kv-budget --model gemma-3-27b --solve batch --ctx 128Ki --under 1GiB").status ==
        1);
  CHECK(run_swa("kv-budget --model gemma-3-27b --solve ratio --ctx 128Ki --under 1MiB").status ==
        1);
}

TEST_CASE("a step reads the logical bytes in their time") {
  const json record =
      records_of("kv-budget --model gpt-oss-20b --ctx 128Ki --layout full --bandwidth 4.8TB/s")[0];
  CHECK(record["bytes_read"] == 3'224'371'200);
  CHECK(record["ms_read"].get<double>() == doctest::Approx(3'224'371'200 / 4.8e9));
}

TEST_CASE("the lists name every model and every setting") {
  const json models = records_of("kv-budget --list");
  CHECK(models.size() == 99);
  for (const json& model : models) {
    const bool known = model["unknown"].empty();
    CHECK(model["layers"].is_null() == !known);
    CHECK(model["layer_plan"].get<string>().empty() == !known);
  }
  const json layouts = records_of("kv-budget --layouts");
  CHECK(layouts.size() > 25);
  CHECK(contains(output("kv-budget --plot --model gpt-oss-20b --ctx 1Ki,2Ki"), "####"));
}
