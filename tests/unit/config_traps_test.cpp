// Keys that mislead, and files that nobody should be able to pass off as a model.
#include <doctest/doctest.h>

#include "scratch.hpp"
#include "unit/config_reading.hpp"

using namespace swa;
using namespace swa::test;

namespace {

const std::string kHeads =
    "'hidden_size': 512, 'num_attention_heads': 8, "
    "'num_key_value_heads': 2, 'max_position_embeddings': 1024, ";

std::string of(const std::string& model_type, Index layers, const std::string& keys) {
  return "{'model_type': '" + model_type + "', " + kHeads +
         "'num_hidden_layers': " + std::to_string(layers) + ", " + keys + "}";
}

void refuses(const std::string& config, const std::string& part) {
  const std::string sentence = refusal(config);
  CAPTURE(config);
  CAPTURE(sentence);
  CHECK(sentence.find(part) != std::string::npos);
}

std::string plan(const std::string& config) {
  return layer_plan(reading_of(config).model);
}

}  // namespace

TEST_CASE("a window that never binds is named") {
  for (const char* value : {"0", "-1"}) {
    const ConfigReading off =
        reading_of(of("mistral", 2, "'sliding_window': " + std::string(value)));
    CHECK(layer_plan(off.model) == "GG");
    CHECK(has_part(off.warnings, "sliding_window = " + std::string(value) + " never binds"));
  }
  const ConfigReading null = reading_of(of("mistral", 2, "'sliding_window': null"));
  CHECK(layer_plan(null.model) == "GG");
  CHECK(origin(null, "window") == "none from sliding_window = null");
  const ConfigReading wide = reading_of(of("mistral", 2, "'sliding_window': 1024"));
  CHECK(kinds(wide.model) == "L1024 2x64");
  CHECK(has_part(wide.warnings, "a window of 1024 is not below the 1024 positions"));
  CHECK(reading_of(of("mistral", 2, "'sliding_window': 1023")).warnings.empty());
}

TEST_CASE("a window that the class never reads is ignored with the reason") {
  const ConfigReading llama = reading_of(of("llama", 3, "'sliding_window': 64"));
  CHECK(layer_plan(llama.model) == "GGG");
  CHECK(reason(llama, "sliding_window").find("llama never reads it") != std::string::npos);
  const ConfigReading mixtral = reading_of(of("mixtral", 2, "'sliding_window': 64"));
  CHECK(layer_plan(mixtral.model) == "GG");
  CHECK(has_part(mixtral.warnings, "not trained with a window"));
}

TEST_CASE("use_sliding_window is obeyed by the classes that read it") {
  const std::string keys = "'sliding_window': 64, 'max_window_layers': 2, ";
  CHECK(plan(of("mistral", 2, keys + "'use_sliding_window': false")) == "LL");
  CHECK(reason(reading_of(of("mistral", 2, keys + "'use_sliding_window': false")),
               "use_sliding_window")
            .find("never reads it") != std::string::npos);
  const ConfigReading off = reading_of(of("qwen2", 4, keys + "'use_sliding_window': false"));
  CHECK(layer_plan(off.model) == "GGGG");
  CHECK(reason(off, "sliding_window") == "use_sliding_window is false");
  CHECK(plan(of("qwen3", 4, "'sliding_window': 64, 'max_window_layers': 2")) == "GGGG");
}

TEST_CASE("the dispute about max_window_layers is told") {
  const std::string on = "'use_sliding_window': true, 'sliding_window': 64, 'max_window_layers': ";
  const ConfigReading some = reading_of(of("qwen2", 4, on + "3"));
  CHECK(layer_plan(some.model) == "GGGL");
  CHECK(has_part(some.warnings, "the publisher's staff says that those before 3 have it"));
  const ConfigReading none = reading_of(of("qwen2", 4, on + "4"));
  CHECK(layer_plan(none.model) == "GGGG");
  CHECK(has_part(none.warnings, "so none"));
  CHECK(plan(of("qwen2", 4, on + "0")) == "LLLL");
  CHECK(plan(of("qwen2_moe", 6, on + "4")) == "LGLGGG");
  refuses(of("qwen3_moe", 4, on + "2"), "which layers of qwen3_moe");
}

TEST_CASE("one name of a key means opposite things in two families") {
  const std::string key = "'global_attn_every_n_layers': 3, 'head_dim': 64, ";
  CHECK(plan(of("afmoe", 6, key + "'sliding_window': 64")) == "LLGLLG");
  CHECK(plan(of("modernbert", 6, key + "'local_attention': 64")) == "GLLGLL");
}

TEST_CASE("layer_types wins over a pattern") {
  const ConfigReading gemma =
      reading_of(of("gemma3_text", 3,
                    "'sliding_window': 64, 'sliding_window_pattern': 6, " + layer_types("GLG")));
  CHECK(layer_plan(gemma.model) == "GLG");
  CHECK(has_part(gemma.warnings, "layer_types and sliding_window_pattern = 6 disagree"));
  CHECK(reason(gemma, "sliding_window_pattern") == "layer_types says what each layer sees");
  // Two layers of each four: no pattern of four gives another plan.
  const ConfigReading cohere = reading_of(
      of("cohere2", 2, "'sliding_window': 64, '_sliding_window_pattern': 4, " + layer_types("LL")));
  CHECK(layer_plan(cohere.model) == "LL");
  CHECK(cohere.warnings.empty());
}

TEST_CASE("layer_types may be longer than the model and not shorter") {
  const ConfigReading reading =
      reading_of(of("step3p5", 3, "'sliding_window': 64, " + layer_types("GLLLG")));
  CHECK(layer_plan(reading.model) == "GLL");
  CHECK(has_part(reading.warnings, "layer_types has 5 entries for 3 layers"));
  refuses(of("gpt_oss", 4, layer_types("LGL")), "'layer_types' has 3 entries for 4 layers");
}

TEST_CASE("patterns in letters and numbers") {
  const std::string window = "'sliding_window': 64, 'sliding_window_pattern': ";
  CHECK(plan(of("exaone4", 8, window + "'LLGL'")) == "LLGLLLGL");
  CHECK(has_part(reading_of(of("exaone4", 3, window + "'LLLG'")).warnings,
                 "ends with a local layer"));
  CHECK(plan(of("gemma3_text", 4, window + "1")) == "GGGG");
  refuses(of("gemma3_text", 4, window + "0"), "'sliding_window_pattern' = 0 is not within");
  refuses(of("exaone4", 4, window + "'LLXG'"), "may hold only L and G");
  refuses(of("exaone4", 4, window + "''"), "'sliding_window_pattern' is empty");
  refuses(of("cwm", 4, window + "4"), "is not known for cwm");
  refuses(of("gemma3_text", 4, window + "4, '_sliding_window_pattern': 6"),
          "contradicts 'sliding_window_pattern' = 4");
  refuses(of("cohere2", 4, window + "4, 'layer_switch': 2"), "'layer_switch' = 2 contradicts");
  refuses(of("cohere2", 4, window + "4, 'order_of_interleaved_layers': 'global_attn_first'"),
          "'order_of_interleaved_layers' = 'global_attn_first' contradicts");
}

TEST_CASE("lists of windows") {
  const std::string list = "'interleaved_sliding_window': [64, null, 32]";
  const Model model = reading_of(of("mistral", 5, list)).model;
  CHECK(layer_plan(model) == "LGLLG");
  CHECK(kinds(model) == "L64 2x64, G 2x64, L32 2x64");
  CHECK(plan(of("exaone_moe", 3, "'sliding_windows': [8, 0, 8], 'mtp_layer_types': ['x']")) ==
        "LGL");
  refuses(of("exaone_moe", 4, "'sliding_windows': [8, 0, 8]"), "3 entries for 4 layers");
  refuses(of("exaone_moe", 4, "'sliding_window': 8"), "'layer_types' is missing");
}

TEST_CASE("keys without a meaning for the cache are listed") {
  const ConfigReading reading =
      reading_of(of("gemma2", 2,
                    "'sliding_window': 64, 'cache_implementation': 'hybrid', "
                    "'full_attn_mod': 1, 'some_window\\u001b': 3, 'num_nextn_predict_layers': 1"));
  CHECK(reason(reading, "cache_implementation").find("hint") != std::string::npos);
  CHECK(reason(reading, "full_attn_mod").find("not established") != std::string::npos);
  CHECK(reason(reading, "some_window?") == "gemma2 does not read it");
  CHECK(reason(reading, "num_nextn_predict_layers").find("not counted") != std::string::npos);
  CHECK(reason(reading, "sliding_window").empty());
}

TEST_CASE("what readers dispute is a warning") {
  CHECK(has_part(reading_of(of("phi3", 2, "'sliding_window': 64")).warnings,
                 "let it see W + 1, and llama.cpp ignores the window"));
  CHECK(reading_of(of("phi3", 2, "'sliding_window': null")).warnings.empty());
  CHECK(has_part(reading_of(of("exaone4", 4,
                               "'sliding_window': null, "
                               "'sliding_window_pattern': 'LLLG'"))
                     .warnings,
                 "sliding_window = null never binds"));
}

TEST_CASE("an unknown architecture is computed from plain keys alone") {
  const ConfigReading plain = reading_of(of("new_one", 2, "'head_dim': 64"));
  CHECK(layer_plan(plain.model) == "GG");
  CHECK(has_part(plain.warnings, "new_one is not known: since no key speaks of a window"));
  CHECK(plan(of("new_one", 3, "'sliding_window': 8, " + layer_types("LGS"))) == "LGS");
  CHECK(plan(of("new_one", 2, "'sliding_window': null, 'window_size': 0")) == "GG");
  CHECK(plan(of("new_one", 2, "'sliding_window': 8, 'use_sliding_window': false")) == "GG");
  CHECK(kinds(reading_of(of("new_one", 1, "'kv_lora_rank': 512, 'qk_rope_head_dim': 64")).model) ==
        "G 1x576 latent/0");
  for (const char* key :
       {"'sliding_window': 8", "'window_size': 8", "'sliding_window_pattern': 4",
        "'hybrid_layer_pattern': [0, 1]", "'linear_attn_config': {}", "'mamba_d_state': 16",
        "'attn_layer_period': 8", "'local_attention': 128"}) {
    CAPTURE(key);
    refuses(of("new_one", 2, key), "not known for new_one");
  }
  CHECK(has_part(reading_of(of("new_one", 2, layer_types("GG"))).warnings, "are assumed to mean"));
  refuses(of("new_one", 2, "'swa_head_dim': 8, " + layer_types("GG")), "another cache");
  refuses(of("new_one", 2, "'is_encoder_decoder': true"), "'is_encoder_decoder' is true");
  refuses(of("new_one", 2, "'num_kv_shared_layers': 1"), "is not known for new_one");
  refuses(of("new_one", 2, "'cla_share_factor': 2"), "is not established for new_one");
  refuses(of("new_one", 2, layer_types("LG")), "'sliding_window' is missing");
}

TEST_CASE("configs that contradict themselves are refused with the keys") {
  refuses(of("gemma2", 2, "'sliding_window': 64, 'sliding_window_size': 32"),
          "'sliding_window_size' = 32 contradicts 'sliding_window' = 64");
  refuses(of("qwen3", 2, "'sliding_window': 64, 'use_sliding_window': false, " + layer_types("LG")),
          "'use_sliding_window' is false, and 'layer_types' has sliding_attention");
  refuses(
      "{'model_type': 'llama', 'num_hidden_layers': 2, 'hidden_size': 512, "
      "'num_attention_heads': 8, 'num_key_value_heads': 3}",
      "'num_attention_heads' = 8 is no multiple of 'num_key_value_heads' = 3");
  refuses(
      "{'model_type': 'llama', 'num_hidden_layers': 2, 'hidden_size': 500, "
      "'num_attention_heads': 8}",
      "'hidden_size' = 500 divided by 'num_attention_heads' = 8");
  refuses(of("gemma3n", 5, "'num_kv_shared_layers': 5"), "leaves none of 5 layers");
  refuses(of("gemma3n", 5, "'num_kv_shared_layers': 1"), "leaves layer 4 no earlier layer");
  refuses(of("hymba", 4,
             "'sliding_window': 8, 'global_attn_idx': [0], "
             "'kv_reuse_group': [[1, 2], [2, 3]]"),
          "'kv_reuse_group' names layer 2 twice");
  refuses(of("hymba", 4,
             "'sliding_window': 8, 'global_attn_idx': [0], "
             "'kv_reuse_group': [[0, 1]]"),
          "lets layer 1 share with layer 0");
  refuses(of("kimi_linear", 3, "'linear_attn_config': {'full_attn_layers': [0]}"),
          "names layer 0, and the layers are 1 .. 3");
  refuses(of("kimi_linear", 3,
             "'linear_attn_config': {'full_attn_layers': [1], "
             "'kda_layers': [1, 2]}"),
          "do not name each of the 3 layers once");
  refuses(of("baichuan_m1", 2, "'sliding_window': 8, 'sliding_window_layers': [2]"),
          "names layer 2, and the layers are 0 .. 1");
  refuses(of("gpt_neo", 2, "'attention_types': [[['global'], 3]]"), "'attention_types' names");
  refuses(of("gpt_neo", 2,
             "'attention_types': [[['global'], 2]], "
             "'attention_layers': ['global', 'local']"),
          "'attention_layers' contradicts 'attention_types'");
  refuses(of("nemotron_h", 3, "'hybrid_override_pattern': 'M*'"), "has 2 letters for 3");
  refuses("{'text_config': {}, 'llm_config': {}}",
          "'text_config' and 'llm_config' both describe a text model");
  refuses(of("deepseek_v3", 2, "'kv_lora_rank': 512"), "'qk_rope_head_dim' is missing");
}

TEST_CASE("entries and values that nobody knows are refused") {
  refuses(of("gemma3_text", 1, "'layer_types': ['wavy_attention']"),
          "has the entry 'wavy_attention', which is not known for gemma3_text");
  refuses(of("gemma2", 2, "'sliding_window': 64, 'use_bidirectional_attention': true"),
          "is not established");
  refuses(of("plamo2", 4, "'attention_window_size': 8, 'mamba_step': 3"), "'mamba_step' is not 2");
  refuses(of("granitemoehybrid", 2, "'head_dim': 64"), "'layer_types' is missing");
  refuses(of("ministral", 2, "'head_dim': 64"), "'sliding_window' is missing");
}

TEST_CASE("figures of another type or size are refused with the key") {
  const std::string rest = ", 'model_type': 'mistral', 'hidden_size': 512}";
  refuses("{'num_hidden_layers': 1000000000" + rest,
          "config.json: 'num_hidden_layers' = 1000000000 is not within 1 .. 10000");
  for (const char* value : {"0", "-3"}) {
    refuses("{'num_hidden_layers': " + std::string(value) + rest, "is not within 1 .. 10000");
  }
  for (const char* value : {"true", "'32'", "32.0", "[32]", "{}", "18446744073709551615", "1e3"}) {
    CAPTURE(value);
    refuses("{'num_hidden_layers': " + std::string(value) + rest, "is not a whole number");
    refuses(of("mistral", 2, "'head_dim': " + std::string(value)), "'head_dim' = ");
  }
  refuses("{'num_hidden_layers': 2, 'num_attention_heads': -8" + rest,
          "'num_attention_heads' = -8 is not within 1 .. 1000000");
  refuses(of("mistral", 2, "'sliding_window': 1152921504606846977"), "is above 2^60");
  refuses(of("mistral", 2, "'rope_theta': -1"), "'rope_theta' = -1 is not a finite number");
  refuses(of("qwen2", 2, "'use_sliding_window': 'False'"), "is neither true nor false");
  refuses("{'model_type': 3, 'num_hidden_layers': 2}", "'model_type' is not a string");
  refuses("{'text_config': []}", "'text_config' is not an object");
  refuses("{'model_type': 'llama'}", "'num_hidden_layers' is missing");
  refuses("{'model_type': 'llama', 'num_hidden_layers': 2}", "'num_attention_heads' is missing");
}

TEST_CASE("files that are no config are refused with a sentence") {
  refuses("", "config.json is not JSON, at byte");
  refuses("{'model_type': 'llama', ", "config.json is not JSON, at byte");
  refuses("{'use_sliding_window': False}", "config.json is not JSON, at byte 24 of 29");
  refuses("[]", "is not a JSON object");
  refuses("{'a': 1e999}", "a number that no double can hold");
  refuses("{'a': 1, 'b': {'c': 1, 'c': 2}}", "has the key 'c' twice");
  refuses("{'a': " + over("[", 100), "nests more than 32 values");
  refuses("{'a': " + over("[", 100'000), "nests more than 32 values");
  refuses(std::string("{}\0{}", 5), "a zero byte");
  const Scratch scratch;
  CHECK_THROWS_WITH_AS(read_config(scratch.folder()),
                       (scratch.folder() + ": that is a folder").c_str(), UsageError);
  CHECK_THROWS_AS(read_config(scratch.folder() + "/none.json"), UsageError);
  const std::string large = scratch.write("large.json", std::string((16 << 20) + 1, ' '));
  CHECK_THROWS_WITH_AS(read_config(large), (large + ": that has more than 16 MiB").c_str(),
                       UsageError);
}
