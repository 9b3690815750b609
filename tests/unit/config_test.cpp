// Models of each family, as their published configs describe them.
#include "model/config.hpp"

#include <doctest/doctest.h>

#include "scratch.hpp"
#include "unit/config_reading.hpp"

using namespace swa;
using namespace swa::test;

namespace {

struct Published {
  const char* name;
  std::string config;
  std::string plan;
  std::string kinds;
  Index bytes;  // of one token in all layers, at two bytes an element; 0 where nobody states it
};

void check(const std::vector<Published>& models) {
  for (const Published& published : models) {
    CAPTURE(published.name);
    const Model model = reading_of(published.config).model;
    CHECK(layer_plan(model) == published.plan);
    CHECK(kinds(model) == published.kinds);
    if (published.bytes > 0) CHECK(logical_bytes(model, {1, 1}) == published.bytes);
  }
}

// hidden_size, layers, query heads, kv heads, positions.
std::string shape(Index hidden, Index layers, Index heads, Index kv_heads, Index positions) {
  return "'hidden_size': " + std::to_string(hidden) +
         ", 'num_hidden_layers': " + std::to_string(layers) +
         ", 'num_attention_heads': " + std::to_string(heads) +
         ", 'num_key_value_heads': " + std::to_string(kv_heads) +
         ", 'max_position_embeddings': " + std::to_string(positions);
}

}  // namespace

TEST_CASE("configs whose every layer has the window") {
  check({
      {"mistral 7b v0.1",
       "{'model_type': 'mistral', 'rope_theta': 10000.0, 'sliding_window': 4096, " +
           shape(4096, 32, 32, 8, 32768) + "}",
       over("L", 32), "L4096 8x128", 131'072},
      {"h2o danube 1.8b",
       "{'model_type': 'mistral', 'sliding_window': 4096, " + shape(2560, 24, 32, 8, 16384) + "}",
       over("L", 24), "L4096 8x80", 61'440},
      {"tinymistral 248m",
       "{'model_type': 'mistral', 'sliding_window': 32, " + shape(1024, 12, 32, 8, 32768) + "}",
       over("L", 12), "L32 8x32", 12'288},
      {"phi 3 mini",
       "{'model_type': 'phi3', 'sliding_window': 2047, " + shape(3072, 32, 32, 32, 4096) + "}",
       over("L", 32), "L2047 32x96", 393'216},
      {"phi 3 medium",
       "{'model_type': 'phi3', 'sliding_window': 2047, " + shape(5120, 40, 40, 10, 4096) + "}",
       over("L", 40), "L2047 10x128", 204'800},
      {"the same as mistral",
       "{'model_type': 'mistral', 'head_dim': 128, 'sliding_window': 2048, " +
           shape(5120, 40, 40, 10, 4096) + "}",
       over("L", 40), "L2048 10x128", 204'800},
      {"starcoder2 3b",
       "{'model_type': 'starcoder2', 'sliding_window': 4096, " + shape(3072, 30, 24, 2, 16384) +
           "}",
       over("L", 30), "L4096 2x128", 30'720},
      {"starcoder2 15b",
       "{'model_type': 'starcoder2', 'sliding_window': 4096, " + shape(6144, 40, 48, 4, 16384) +
           "}",
       over("L", 40), "L4096 4x128", 81'920},
  });
}

TEST_CASE("configs whose window is null or switched off") {
  check({
      {"h2o danube2",
       "{'model_type': 'mistral', 'sliding_window': null, " + shape(2560, 24, 32, 8, 8192) + "}",
       over("G", 24), "G 8x80", 61'440},
      {"qwen2 72b",
       "{'model_type': 'qwen2', 'sliding_window': 131072, 'use_sliding_window': false, "
       "'max_window_layers': 80, " +
           shape(8192, 80, 64, 8, 32768) + "}",
       over("G", 80), "G 8x128", 327'680},
      {"qwen2.5 32b",
       "{'model_type': 'qwen2', 'sliding_window': 131072, 'use_sliding_window': false, "
       "'max_window_layers': 70, " +
           shape(5120, 64, 40, 8, 32768) + "}",
       over("G", 64), "G 8x128", 262'144},
      {"smollm3",
       "{'model_type': 'smollm3', 'use_sliding_window': false, 'no_rope_layer_interval': 4, " +
           shape(2048, 36, 16, 4, 65536) + "}",
       over("G", 36), "G 4x128", 73'728},
      {"dots1",
       "{'model_type': 'dots1', 'sliding_window': 4096, 'max_window_layers': 62, 'head_dim': "
       "128, " +
           shape(4096, 62, 32, 32, 32768) + "}",
       over("G", 62), "G 32x128", 0},
      {"exaone 4.0 1.2b",
       "{'model_type': 'exaone4', 'sliding_window': null, 'sliding_window_pattern': 'LLLG', " +
           shape(2048, 30, 32, 8, 65536) + "}",
       over("G", 30), "G 8x64", 61'440},
      {"llama",
       "{'model_type': 'llama', 'sliding_window': 4096, " + shape(4096, 32, 32, 8, 32768) + "}",
       over("G", 32), "G 8x128", 131'072},
  });
}

TEST_CASE("configs where the last of each few layers is global") {
  check({
      {"gemma 2 2b",
       "{'model_type': 'gemma2', 'head_dim': 256, 'sliding_window': 4096, " +
           shape(2304, 26, 8, 4, 8192) + "}",
       over("LG", 26), "L4096 4x256, G 4x256", 106'496},
      {"gemma 2 9b",
       "{'model_type': 'gemma2', 'head_dim': 256, 'sliding_window': 4096, "
       "'sliding_window_size': 4096, " +
           shape(3584, 42, 16, 8, 8192) + "}",
       over("LG", 42), "L4096 8x256, G 8x256", 344'064},
      {"gemma 2 27b",
       "{'model_type': 'gemma2', 'head_dim': 128, 'sliding_window': 4096, "
       "'sliding_window_size': 4096, " +
           shape(4608, 46, 32, 16, 8192) + "}",
       over("LG", 46), "L4096 16x128, G 16x128", 376'832},
      {"gpt oss 20b",
       "{'model_type': 'gpt_oss', 'head_dim': 64, 'sliding_window': 128, " +
           shape(2880, 24, 64, 8, 131072) + "}",
       over("LG", 24), "L128 8x64, G 8x64", 49'152},
      {"gemma 3 270m",
       "{'model_type': 'gemma3_text', 'head_dim': 256, 'sliding_window': 512, "
       "'_sliding_window_pattern': 6, 'use_bidirectional_attention': false, " +
           layer_types(over("LLLLLG", 18)) + ", " + shape(640, 18, 4, 1, 32768) + "}",
       over("LLLLLG", 18), "L512 1x256, G 1x256", 18'432},
      {"gemma 3 1b",
       "{'model_type': 'gemma3_text', 'head_dim': 256, 'sliding_window': 512, "
       "'_sliding_window_pattern': 6, " +
           shape(1152, 26, 4, 1, 32768) + "}",
       over("LLLLLG", 26), "L512 1x256, G 1x256", 26'624},
      {"gemma 3 12b text only",
       "{'model_type': 'gemma3_text', 'head_dim': 256, 'sliding_window': 1024, "
       "'sliding_window_pattern': 6, " +
           shape(3840, 48, 16, 8, 131072) + "}",
       over("LLLLLG", 48), "L1024 8x256, G 8x256", 393'216},
      {"a tiny gemma 3",
       "{'model_type': 'gemma3', 'text_config': {'model_type': 'gemma3_text', 'head_dim': 32, "
       "'sliding_window': 1024, 'sliding_window_pattern': 2, " +
           shape(32, 2, 1, 1, 131072) + "}}",
       "LG", "L1024 1x32, G 1x32", 0},
      {"command r7b",
       "{'model_type': 'cohere2', 'head_dim': 128, 'layer_switch': 4, 'sliding_window': 4096, "
       "'order_of_interleaved_layers': 'local_attn_first', 'sliding_window_pattern': 4, " +
           shape(4096, 32, 32, 8, 8192) + "}",
       over("LLLG", 32), "L4096 8x128, G 8x128", 131'072},
      {"olmo 3 7b without its list",
       "{'model_type': 'olmo3', 'sliding_window': 4096, " + shape(4096, 32, 32, 32, 65536) + "}",
       over("LLLG", 32), "L4096 32x128, G 32x128", 524'288},
      {"exaone 4.0 32b",
       "{'model_type': 'exaone4', 'sliding_window': 4096, 'sliding_window_pattern': 'LLLG', " +
           shape(5120, 64, 40, 8, 131072) + "}",
       over("LLLG", 64), "L4096 8x128, G 8x128", 262'144},
      {"exaone 4.5 33b",
       "{'model_type': 'exaone4_5', 'sliding_window': 4096, 'sliding_window_pattern': 4, " +
           shape(5120, 64, 40, 8, 262144) + "}",
       over("LLLG", 64), "L4096 8x128, G 8x128", 262'144},
      {"trinity nano",
       "{'model_type': 'afmoe', 'sliding_window': 2048, 'global_attn_every_n_layers': 4, "
       "'head_dim': 128, " +
           shape(1024, 56, 8, 2, 131072) + "}",
       over("LLLG", 56), "L2048 2x128, G 2x128", 57'344},
      {"plamo 3",
       "{'model_type': 'plamo3', 'interleaved_sliding_window': 2048, 'head_dim': 128, " +
           shape(2560, 18, 32, 4, 4096) + "}",
       over("LLLLLLLG", 18), "L2048 4x128, G 4x128", 0},
  });
}

TEST_CASE("configs where the first of each few layers is global") {
  check({
      {"cwm 32b",
       "{'model_type': 'cwm', 'head_dim': 128, 'sliding_window': 8192, " +
           shape(6144, 64, 48, 8, 131072) + "}",
       over("GLLL", 64), "G 8x128, L8192 8x128", 262'144},
      {"step 3.5 flash",
       "{'model_type': 'step3p5', 'head_dim': 128, 'sliding_window': 512, 'num_hidden_layers': 45, "
       "'hidden_size': 4096, 'num_attention_heads': 64, 'num_attention_groups': 8, "
       "'attention_other_setting': {'attention_type': 'sliding_attention', "
       "'num_attention_heads': 96, 'num_attention_groups': 8, 'head_dim': 128}, " +
           layer_types(over("GLLL", 48)) + "}",
       over("GLLL", 45), "G 8x128, L512 8x128", 184'320},
      {"step 3.7 flash without its list",
       "{'model_type': 'step3p7', 'head_dim': 128, 'sliding_window': 512, 'num_hidden_layers': 45, "
       "'hidden_size': 4096, 'num_attention_heads': 64, 'num_attention_groups': 8}",
       over("GLLL", 45), "G 8x128, L512 8x128", 184'320},
      {"laguna xs",
       "{'model_type': 'laguna', 'sliding_window': 512, " + layer_types(over("GLLL", 40)) + ", " +
           shape(2048, 40, 48, 8, 131072) + "}",
       over("GLLL", 40), "G 8x128, L512 8x128", 163'840},
      {"laguna without its list",
       "{'model_type': 'laguna', 'sliding_window': 512, " + shape(2048, 6, 48, 8, 131072) + "}",
       "GLLLGL", "G 8x128, L512 8x128", 0},
      {"smallthinker",
       "{'model_type': 'smallthinker', 'head_dim': 128, 'sliding_window_size': 4096, "
       "'sliding_window_layout': [0, 1, 1, 1, 0, 1, 1, 1], " +
           shape(2560, 8, 28, 4, 16384) + "}",
       over("GLLL", 8), "G 4x128, L4096 4x128", 0},
      {"smallthinker without its list",
       "{'model_type': 'smallthinker', 'head_dim': 128, 'sliding_window_size': 4096, " +
           shape(2560, 6, 28, 4, 16384) + "}",
       "GLLLGL", "G 4x128, L4096 4x128", 0},
      {"modernbert base",
       "{'model_type': 'modernbert', 'local_attention': 128, 'global_attn_every_n_layers': 3, "
       "'hidden_size': 768, 'num_hidden_layers': 22, 'num_attention_heads': 12}",
       over("GLL", 22), "G 12x64, B64+64 12x64", 0},
      {"muse glimmer, counted from the end",
       "{'model_type': 'muse_glimmer', 'head_dim': 128, 'sliding_window': 2048, " +
           shape(4096, 52, 32, 2, 131072) + "}",
       over("LLLG", 52), "L2048 2x128, G 2x128", 53'248},
      {"the same with two layers more",
       "{'model_type': 'muse_glimmer', 'head_dim': 128, 'sliding_window': 2048, " +
           shape(4096, 54, 32, 2, 131072) + "}",
       over("LGLL", 54), "L2048 2x128, G 2x128", 0},
  });
}

TEST_CASE("configs of text models within others") {
  check({
      {"gemma 3 12b",
       "{'model_type': 'gemma3', 'text_config': {'hidden_size': 3840, 'intermediate_size': 15360, "
       "'model_type': 'gemma3_text', 'num_attention_heads': 16, 'num_hidden_layers': 48, "
       "'num_key_value_heads': 8, 'rope_scaling': {'factor': 8.0}, 'sliding_window': 1024}, "
       "'vision_config': {'hidden_size': 1152, 'num_attention_heads': 16, "
       "'num_hidden_layers': 27, 'head_dim': 72}}",
       over("LLLLLG", 48), "L1024 8x256, G 8x256", 393'216},
      {"gemma 3 4b with six keys",
       "{'model_type': 'gemma3', 'text_config': {'hidden_size': 2560, 'intermediate_size': 10240, "
       "'model_type': 'gemma3_text', 'num_hidden_layers': 34, 'rope_scaling': {'factor': 8.0}, "
       "'sliding_window': 1024}, 'vision_config': {'num_hidden_layers': 27}}",
       over("LLLLLG", 34), "L1024 4x256, G 4x256", 139'264},
      {"without a model_type within",
       "{'model_type': 'gemma3', 'text_config': {'hidden_size': 2560, 'num_hidden_layers': 8, "
       "'sliding_window': 1024}}",
       over("LLLLLG", 8), "L1024 4x256, G 4x256", 0},
      {"two levels",
       "{'model_type': 'x', 'llm_config': {'model_type': 'y', 'language_config': {"
       "'model_type': 'mistral', 'sliding_window': 64, " +
           shape(64, 2, 4, 2, 128) + "}}}",
       "LL", "L64 2x16", 0},
  });
  const ConfigReading reading = reading_of(
      "{'model_type': 'gemma3', 'text_config': {'hidden_size': 2560, "
      "'model_type': 'gemma3_text', 'num_hidden_layers': 34, 'sliding_window': 1024}}");
  CHECK(reading.model.architecture == "gemma3_text");
  CHECK(reading.model.max_positions == 131'072);
  CHECK(reading.model.rope_theta_local == 10'000);
  CHECK(reading.model.rope_theta_global == 1'000'000);
  CHECK(origin(reading, "layers") == "34 from text_config.num_hidden_layers");
  CHECK(origin(reading, "kv heads") == "4 from default of gemma3_text");
  CHECK(origin(reading, "head_dim") == "256 from default of gemma3_text");
  CHECK(origin(reading, "window") == "1024 from text_config.sliding_window");
}

TEST_CASE("an architecture may be named around the text model") {
  const ConfigReading reading = reading_of(
      "{'model_type': 'gemma3', 'text_config': {'num_hidden_layers': 2, "
      "'sliding_window': 4}}");
  CHECK(origin(reading, "architecture") == "gemma3 from model_type");
  CHECK(origin(reading, "layers") == "2 from text_config.num_hidden_layers");
}

TEST_CASE("names of models whose config does not give one") {
  const std::string config = json("{'model_type': 'llama', " + shape(64, 1, 4, 4, 64) + "}");
  CHECK(read_config_text(config, "models/some-7b/config.json").model.id == "some-7b");
  CHECK(read_config_text(config, "tiny one!.json").model.id == "tiny-one-");
  CHECK(reading_of("{'_name_or_path': 'google/gemma-2-27b/', 'model_type': 'llama', " +
                   shape(64, 1, 4, 4, 64) + "}")
            .model.id == "gemma-2-27b");
  const Scratch scratch;
  const Model model = read_config(scratch.write("gemma.json", config)).model;
  CHECK(model.id == "gemma");
  CHECK(model.architecture == "llama");
}
