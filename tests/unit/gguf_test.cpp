// Models that GGUF headers describe. Layer plans and bytes are those that the publishers state.
#include "model/gguf/read.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "gguf_model.hpp"

using namespace swa;
using namespace swa::test;

TEST_CASE("a GGUF header of gemma3 1b") {
  const ConfigReading reading = GgufModel("gemma3")
                                    .add("block_count", 26u)
                                    .add("context_length", 32'768u)
                                    .add("embedding_length", 1152u)
                                    .add("attention.head_count", 4u)
                                    .add("attention.head_count_kv", 1u)
                                    .add("attention.key_length", 256u)
                                    .add("attention.value_length", 256u)
                                    .add("attention.sliding_window", 512u)
                                    .add("rope.freq_base", 1'000'000.f)
                                    .read();
  CHECK(layer_plan(reading.model) == repeated("LLLLLG", 26));
  CHECK(reading.model.layers[0].window == Window::causal(512));
  CHECK(reading.model.max_positions == 32'768);
  CHECK(reading.model.architecture == "gemma3_text");
  CHECK(reading.model.id == "m");
  CHECK(reading.warnings.empty());
  // That of the local layers is not stated, and so neither is taken for that of the others.
  CHECK(reading.model.rope_theta_global == std::nullopt);
  check_bytes(reading.model, 4096, 22'528, 512);
  CHECK(origin(reading, "layers") == "26 from gemma3.block_count (GGUF header)");
  CHECK(origin(reading, "window") == "512 from gemma3.attention.sliding_window (GGUF header)");
  CHECK(origin(reading, "layers that see all keys") ==
        "the last of each 6 from default of gemma3 in llama.cpp");
  REQUIRE(reading.ignored.size() == 1);
  CHECK(reading.ignored[0].key == "gemma3.attention.head_count");
}

TEST_CASE("a GGUF header of gpt-oss 20b") {
  const Model model =
      uniform("gpt-oss", 24, 8, 64).add("attention.sliding_window", 128u).read().model;
  CHECK(layer_plan(model) == repeated("LG", 24));
  check_bytes(model, 24'576, 24'576, 128);
}

TEST_CASE("a GGUF header of gemma4 with heads of its own for each kind of layer") {
  const std::string plan = repeated("LLLLLG", 30);
  const ConfigReading reading = GgufModel("gemma4")
                                    .add("block_count", 30u)
                                    .add("attention.head_count", 16u)
                                    .add("attention.head_count_kv", numbers(plan, 8, 2))
                                    .add("attention.key_length", 512u)
                                    .add("attention.value_length", 512u)
                                    .add("attention.key_length_swa", 256u)
                                    .add("attention.value_length_swa", 256u)
                                    .add("attention.sliding_window", 1024u)
                                    .add("attention.sliding_window_pattern", flags(plan))
                                    .add("attention.shared_kv_layers", 0u)
                                    .add("rope.freq_base", 1'000'000.f)
                                    .add("rope.freq_base_swa", 10'000.f)
                                    .add("final_logit_softcapping", 30.f)
                                    .read();
  CHECK(layer_plan(reading.model) == plan);
  check_bytes(reading.model, 20'480, 204'800, 1024);
  CHECK(reading.model.rope_theta_global == 1'000'000);
  CHECK(reading.model.rope_theta_local == 10'000);
  CHECK(reading.model.softcap_final == 30);
  CHECK(origin(reading, "RoPE theta, local") ==
        "10000 from gemma4.rope.freq_base_swa (GGUF header)");
  CHECK(origin(reading, "RoPE theta, global") ==
        "1000000 from gemma4.rope.freq_base (GGUF header)");
  CHECK(origin(reading, "softcap of final logits") ==
        "30 from gemma4.final_logit_softcapping (GGUF header)");
  CHECK(origin(reading, "layers that see all keys") ==
        "5 of 30 from gemma4.attention.sliding_window_pattern (GGUF header)");
  CHECK(reading.model.softcap_attention == std::nullopt);
  CHECK(reading.model.max_positions == std::nullopt);
  CHECK(origin(reading, "kv heads") ==
        "5 x 2, 25 x 8 from gemma4.attention.head_count_kv (GGUF header)");
}

TEST_CASE("GGUF headers of models whose last layers share caches") {
  const auto e2b = [](const std::string& architecture, const std::string& plan) {
    return uniform(architecture, static_cast<std::uint32_t>(plan.size()), 1, 512)
        .add("attention.sliding_window", 512u)
        .add("attention.sliding_window_pattern", flags(plan))
        .add("attention.key_length_swa", 256u)
        .add("attention.value_length_swa", 256u);
  };
  const Model gemma4 =
      e2b("gemma4", repeated("LLLLG", 35)).add("attention.shared_kv_layers", 20u).read().model;
  CHECK(layer_plan(gemma4) == repeated("LLLLG", 15) + repeated("llllg", 20));
  check_bytes(gemma4, 6144, 12'288, 512);

  const GgufModel gemma3n = uniform("gemma3n", 30, 2, 256).add("attention.sliding_window", 512u);
  for (const bool stated : {false, true}) {
    GgufModel copy = gemma3n;
    if (stated) copy.add("attention.shared_kv_layers", 10u);
    const ConfigReading reading = copy.read();
    CHECK(layer_plan(reading.model) == repeated("LLLLG", 20) + repeated("llllg", 10));
    check_bytes(reading.model, 8192, 32'768, 512);
    CHECK(reading.warnings.empty());
  }
  CHECK(warns(GgufModel(gemma3n).add("attention.shared_kv_layers", 15u).read(),
              "gives the first 20 layers of gemma3n a cache"));
  CHECK(GgufModel(gemma3n).add("attention.shared_kv_layers", 27u).refusal() ==
        "m.gguf: 'gemma3n.attention.shared_kv_layers' leaves layer 4 no cache of its kind to "
        "share");
  // A layer without heads of its own has no cache to share.
  CHECK(GgufModel("gemma4")
            .add("block_count", 4u)
            .add("attention.head_count", 8u)
            .add("attention.head_count_kv", std::vector{0, 4, 4, 4})
            .add("attention.key_length", 64u)
            .add("attention.value_length", 64u)
            .add("attention.sliding_window", 8u)
            .add("attention.sliding_window_pattern", flags("LGLG"))
            .add("attention.shared_kv_layers", 2u)
            .refusal()
            .find("leaves layer 2 no cache of its kind to share") != std::string::npos);
  CHECK(GgufModel(gemma3n).add("attention.shared_kv_layers", 30u).refusal() ==
        "m.gguf: 'gemma3n.attention.shared_kv_layers' = 30 is not within 0 .. 29");
}

TEST_CASE("layers without heads for keys and values have no attention") {
  const std::string plan = "SSGSSGSSGSGSGSGS";
  const ConfigReading lfm2 = GgufModel("lfm2")
                                 .add("block_count", 16u)
                                 .add("embedding_length", 2048u)
                                 .add("attention.head_count", 32u)
                                 .add("attention.head_count_kv",
                                      std::vector{0, 0, 8, 0, 0, 8, 0, 0, 8, 0, 8, 0, 8, 0, 8, 0})
                                 .read();
  CHECK(layer_plan(lfm2.model) == plan);
  CHECK(logical_bytes(lfm2.model, {1000, 1}) == 12'288'000);
  CHECK(origin(lfm2, "head_dim of K") ==
        "64 from lfm2.embedding_length / lfm2.attention.head_count (GGUF header)");

  GgufModel with_window = GgufModel("lfm2")
                              .add("block_count", 4u)
                              .add("embedding_length", 64u)
                              .add("attention.head_count", 2u)
                              .add("attention.head_count_kv", std::vector{0, 1, 0, 1})
                              .add("attention.sliding_window", 16u);
  CHECK(with_window.plan() == "SLSL");
  CHECK(GgufModel("deci")
            .add("block_count", 2u)
            .add("attention.head_count", std::vector{0, 4})
            .add("attention.head_count_kv", std::vector{0, 2})
            .add("attention.key_length", 8u)
            .add("attention.value_length", 8u)
            .plan() == "SG");
  // Without any heads the keys of their widths may be missing.
  const Model none =
      GgufModel("deci").add("block_count", 2u).add("attention.head_count", 0u).read().model;
  CHECK(layer_plan(none) == "SS");
  CHECK(logical_bytes(none, {1000, 1}) == 0);
  CHECK(uniform("qwen3next", 2, 2, 64)
            .add("attention.recurrent_layers", std::vector<bool>{true, true})
            .plan() == "SS");
  const Model derived = GgufModel("deci")
                            .add("block_count", 2u)
                            .add("attention.head_count", std::vector{0, 4})
                            .add("embedding_length", 64u)
                            .read()
                            .model;
  CHECK(derived.layers[1] == Layer{Window::global(), 4, 16, 16});
}

TEST_CASE("layers with attention at an interval or by a list") {
  const Model qwen = uniform("qwen35", 64, 4, 256).add("ssm.state_size", 128u).read().model;
  CHECK(layer_plan(qwen) == repeated("SSSG", 64));
  CHECK(logical_bytes(qwen, {3, 1}) == 3 * 65'536);
  CHECK(uniform("qwen3next", 6, 2, 64).add("full_attention_interval", 3u).plan() == "SSGSSG");
  CHECK(uniform("qwen3next", 3, 2, 64)
            .add("attention.recurrent_layers", std::vector<bool>{false, true, true})
            .plan() == "GSS");
}

TEST_CASE("GGUF headers with key-value heads and widths for each layer") {
  std::string plan(48, 'L');
  for (const std::size_t global : {0, 5, 11, 17, 23, 29, 35, 41, 47}) plan[global] = 'G';
  const Model mimo = GgufModel("mimo2")
                         .add("block_count", 48u)
                         .add("attention.head_count", 64u)
                         .add("attention.head_count_kv", numbers(plan, 8, 4))
                         .add("attention.key_length", 192u)
                         .add("attention.value_length", 128u)
                         .add("attention.sliding_window", 128u)
                         .add("attention.sliding_window_pattern", numbers(plan, 1, 0))
                         .read()
                         .model;
  CHECK(layer_plan(mimo) == plan);
  check_bytes(mimo, 23'040, 199'680, 128);

  // Three layers predict further tokens; the lists cover them in some files.
  for (const std::size_t listed : {45, 48}) {
    const std::string step = repeated("GLLL", listed);
    const Model model = GgufModel("step35")
                            .add("block_count", 48u)
                            .add("nextn_predict_layers", 3u)
                            .add("attention.head_count", numbers(step, 96, 64))
                            .add("attention.head_count_kv", numbers(step, 8, 8))
                            .add("attention.key_length", 128u)
                            .add("attention.value_length", 128u)
                            .add("attention.sliding_window", 512u)
                            .add("attention.sliding_window_pattern", flags(step))
                            .read()
                            .model;
    CHECK(layer_plan(model) == repeated("GLLL", 45));
    check_bytes(model, 49'152, 135'168, 512);
  }
}

TEST_CASE("a latent row stands for all heads") {
  const ConfigReading now = GgufModel("deepseek2")
                                .add("block_count", 61u)
                                .add("attention.head_count", 128u)
                                .add("attention.head_count_kv", 1u)
                                .add("attention.key_length", 576u)
                                .add("attention.value_length", 512u)
                                .add("attention.key_length_mla", 192u)
                                .add("attention.value_length_mla", 128u)
                                .add("attention.kv_lora_rank", 512u)
                                .add("rope.dimension_count", 64u)
                                .read();
  CHECK(now.model.layers[60].latent);
  CHECK(logical_bytes(now.model, {1, 1}) == 61 * 576 * 2);
  CHECK(now.warnings.empty());

  const ConfigReading before = GgufModel("deepseek2")
                                   .add("block_count", 61u)
                                   .add("attention.head_count", 128u)
                                   .add("attention.head_count_kv", 128u)
                                   .add("attention.key_length", 192u)
                                   .add("attention.value_length", 128u)
                                   .add("attention.kv_lora_rank", 512u)
                                   .add("rope.dimension_count", 64u)
                                   .read();
  CHECK(before.model.layers == now.model.layers);
  CHECK(warns(before, "caches the keys and values of all heads"));
}

TEST_CASE("a GGUF header and the config.json it was made from describe the same layers") {
  const auto from_config = [](const std::string& keys) {
    return read_config_text("{" + keys + "}", "config.json").model.layers;
  };
  const std::string heads =
      R"("num_hidden_layers": 8, "hidden_size": 2048, "num_attention_heads": 4,
         "num_key_value_heads": 2, "head_dim": 64, "sliding_window": 128,
         "max_position_embeddings": 131072, "model_type": )";
  const auto same = [&](const std::string& name, const std::string& type) {
    CAPTURE(name);
    CHECK(windowed(name, 8, 128).read().model.layers == from_config(heads + type));
  };
  same("cohere2", R"("cohere2")");
  same("gemma2", R"("gemma2")");
  same("gemma3", R"("gemma3_text")");
  same("gpt-oss", R"("gpt_oss")");
  same("olmo2", R"("olmo3")");
  same("afmoe", R"("afmoe")");
  same("plamo3", R"("plamo3")");
  same("phi3", R"("phi3")");
}
