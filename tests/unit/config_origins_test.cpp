// Where the figures of a model come from, and which keys have no say.
#include <doctest/doctest.h>

#include "unit/config_reading.hpp"

using namespace swa;
using namespace swa::test;

TEST_CASE("facts that are defaults of the class have an origin") {
  const ConfigReading gemma = reading_of("{'model_type': 'gemma2', 'num_hidden_layers': 2}");
  CHECK(origin(gemma, "largest context") == "8192 from default of gemma2");
  CHECK(origin(gemma, "layers that see all keys") == "the last of each 2 from default of gemma2");
  CHECK(origin(gemma, "window") == "4096 from default of gemma2");
  CHECK(origin(gemma, "kv heads") == "4 from default of gemma2");
  CHECK(origin(gemma, "head_dim") == "256 from default of gemma2");
  CHECK(origin(gemma, "softcap of scores") == "50 from default of gemma2");
  CHECK(origin(gemma, "softcap of final logits") == "30 from default of gemma2");
  const ConfigReading oss = reading_of(eight_heads("gpt_oss", 2, "'rope_theta': 7"));
  CHECK(origin(oss, "RoPE theta, local") == "7 from rope_theta");
  CHECK(origin(oss, "sinks") == "a learned logit per head from default of gpt_oss");
  const ConfigReading gemma3 = reading_of(eight_heads("gemma3", 6, "'rope_local_base_freq': 7"));
  CHECK(origin(gemma3, "RoPE theta, local") == "7 from rope_local_base_freq");
  CHECK(origin(gemma3, "RoPE theta, global") == "1000000 from default of gemma3");
  const ConfigReading cohere = reading_of(eight_heads("cohere2", 4, "'v_head_dim': 32"));
  CHECK(origin(cohere, "no RoPE") == "global layers from default of cohere2");
  CHECK(origin(cohere, "head_dim of K") == "64 from hidden_size / num_attention_heads");
  CHECK(origin(cohere, "head_dim of V") == "32 from v_head_dim");
  CHECK(origin(cohere, "head_dim").empty());
}

TEST_CASE("origins of plans and heads of one kind of layers") {
  const ConfigReading step = reading_of(
      eight_heads("step3p5", 4,
                  "'num_attention_groups': 8, 'sliding_window': 8, 'attention_other_setting': "
                  "{'num_attention_groups': 4, 'head_dim': 32}, " +
                      layer_types("GLLG")));
  CHECK(origin(step, "layers that see all keys") == "2 of 4 from layer_types");
  CHECK(origin(step, "kv heads, local") == "4 from attention_other_setting.num_attention_groups");
  CHECK(origin(step, "head_dim, local") == "32 from attention_other_setting.head_dim");
  const ConfigReading gemma =
      reading_of(eight_heads("gemma4", 6, "'num_global_key_value_heads': 2"));
  CHECK(origin(gemma, "head_dim, global") == "512 from default of gemma4");
  CHECK(origin(gemma, "kv heads, global") == "2 from num_global_key_value_heads");
}

TEST_CASE("an empty list of layers with rotary embedding stands for the default") {
  const std::string key = "layers that see all keys";
  const std::string text = "the last of each 4 from ";
  CHECK(origin(reading_of(eight_heads("llama4", 4, "'no_rope_layers': []")), key) ==
        text + "no_rope_layers is empty: every 4th layer sees all, by default");
  CHECK(reason(reading_of(eight_heads("llama4", 4, "'no_rope_layers': []")), "no_rope_layers")
            .empty());
  CHECK(origin(reading_of(eight_heads("llama4", 4, "'head_dim': 64")), key) ==
        text + "default of llama4");
  CHECK(origin(reading_of(
                   eight_heads("llama4", 4, "'no_rope_layers': [], 'no_rope_layer_interval': 2")),
               key) == "the last of each 2 from no_rope_layer_interval");
  CHECK(refusal(eight_heads("llama4", 4, "'no_rope_layers': {}")).find("is not a list") !=
        std::string::npos);
}

TEST_CASE("an encoder says where its two sides come from") {
  const ConfigReading gemma = reading_of(
      eight_heads("gemma3", 6, "'sliding_window': 512, 'use_bidirectional_attention': true"));
  CHECK(origin(gemma, "keys that a query sees") ==
        "on both sides from use_bidirectional_attention");
  CHECK(origin(gemma, "window") == "512 from sliding_window");
  CHECK(origin(gemma, "window to each side") == "256 from half of the window of an encoder");
}

TEST_CASE("a softcap of 0 or null is none") {
  for (const char* value : {"0.0", "0", "null"}) {
    CAPTURE(value);
    const ConfigReading reading =
        reading_of(eight_heads("gemma2", 2,
                               "'attn_logit_softcapping': " + std::string(value) +
                                   ", 'final_logit_softcapping': " + std::string(value)));
    CHECK(reading.model.softcap_attention == std::nullopt);
    CHECK(reading.model.softcap_final == std::nullopt);
    CHECK(origin(reading, "softcap of scores") == "none from attn_logit_softcapping");
  }
  CHECK(reading_of(eight_heads("gemma2", 2, "'attn_logit_softcapping': 20.5"))
            .model.softcap_attention == 20.5);
  CHECK(refusal(eight_heads("gemma2", 2, "'attn_logit_softcapping': -1"))
            .find("is not a finite number") != std::string::npos);
}

TEST_CASE("a type of its own for the cache is left to --dtype") {
  const std::string part = "the type that --dtype states";
  const auto has = [&](const std::string& keys, const std::string& key) {
    return reason(reading_of(eight_heads("llama", 2, keys)), key).find(part) != std::string::npos;
  };
  CHECK(has("'quantization_config': {'kv_cache_scheme': {'num_bits': 8}}",
            "quantization_config.kv_cache_scheme"));
  CHECK(has("'quantization_config': {'kv_cache_quant_algo': 'FP8'}",
            "quantization_config.kv_cache_quant_algo"));
  CHECK(has("'kv_cache_dtype': 'fp8'", "kv_cache_dtype"));
  CHECK_FALSE(has("'quantization_config': {'kv_cache_scheme': null}",
                  "quantization_config.kv_cache_scheme"));
  CHECK_FALSE(has("'use_kv_cache': true", "use_kv_cache"));
  CHECK(refusal(eight_heads("llama", 2, "'quantization_config': 'fp8'")).empty());
  // The object lies around the text model in models that read more than text.
  const ConfigReading outer = reading_of(
      "{'model_type': 'gemma3', 'quantization_config': {'kv_cache_scheme': {}}, "
      "'text_config': {'num_hidden_layers': 2, 'hidden_size': 512}}");
  CHECK(reason(outer, "quantization_config.kv_cache_scheme").find(part) != std::string::npos);
}
