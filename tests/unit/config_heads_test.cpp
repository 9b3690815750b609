// Models whose layers differ in more than their window: heads, caches of others, no cache at all.
#include <doctest/doctest.h>

#include "unit/config_reading.hpp"

using namespace swa;
using namespace swa::test;

namespace {

// Layers with a cache of their own, G and L, whatever the others are.
std::string owners(const Model& model) {
  std::string letters;
  for (const char letter : layer_plan(model)) {
    if (letter == 'G' || letter == 'L') letters += letter;
  }
  return letters;
}

}  // namespace

TEST_CASE("global layers with heads of their own") {
  const std::string e2b =
      "'model_type': 'gemma4_text', 'num_hidden_layers': 35, "
      "'hidden_size': 1536, 'num_attention_heads': 8, "
      "'num_key_value_heads': 1, 'head_dim': 256, 'global_head_dim': 512, "
      "'sliding_window': 512, 'num_kv_shared_layers': 20, " +
      layer_types(over("LLLLG", 35));
  const Model small = reading_of("{" + e2b + "}").model;
  CHECK(kinds(small) == "L512 1x256, G 1x512");
  CHECK(layer_plan(small) == over("LLLLG", 15) + over("llllg", 20));
  CHECK(logical_bytes(small, {1, 1}) == 6'144 + 12'288);

  const std::string b12 =
      "'model_type': 'gemma4_text', 'num_hidden_layers': 48, "
      "'hidden_size': 3840, 'num_attention_heads': 16, "
      "'num_key_value_heads': 8, 'head_dim': 256, 'global_head_dim': 512, "
      "'num_global_key_value_heads': 1, 'sliding_window': 1024";
  const ConfigReading large = reading_of("{" + b12 + ", 'attention_k_eq_v': true}");
  CHECK(kinds(large.model) == "L1024 8x256, G 1x512");
  CHECK(logical_bytes(large.model, {1, 1}) == 16'384 + 327'680);
  CHECK(has_part(large.warnings, "attention_k_eq_v shares weights alone"));
  const ConfigReading off = reading_of("{" + b12 + ", 'attention_k_eq_v': false}");
  CHECK(kinds(off.model) == "L1024 8x256, G 8x512");
  CHECK(reason(off, "num_global_key_value_heads").find("is false") != std::string::npos);
  CHECK(has_part(reading_of("{" + b12 + "}").warnings, "though attention_k_eq_v is missing"));
}

TEST_CASE("the last layer of gemma 4 is global whatever the list says") {
  const ConfigReading reading =
      reading_of("{'model_type': 'gemma4_text', 'num_hidden_layers': 3, 'hidden_size': 64, " +
                 layer_types("LLL") + "}");
  CHECK(layer_plan(reading.model) == "LLG");
  CHECK(has_part(reading.warnings, "layer_types does not end with full_attention"));
}

TEST_CASE("sliding layers with heads of their own") {
  const Model mimo =
      reading_of(
          "{'model_type': 'mimo_v2_flash', 'num_hidden_layers': 12, 'hidden_size': 4096, "
          "'num_attention_heads': 64, 'num_key_value_heads': 4, 'head_dim': 192, 'v_head_dim': "
          "128, "
          "'swa_num_attention_heads': 64, 'swa_num_key_value_heads': 8, 'swa_head_dim': 192, "
          "'swa_v_head_dim': 128, 'sliding_window': 128, 'sliding_window_size': 128, "
          "'attention_chunk_size': 128, 'swa_rope_theta': 10000, 'rope_theta': 5000000, "
          "'add_swa_attention_sink_bias': true, "
          "'hybrid_layer_pattern': [0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0]}")
          .model;
  CHECK(layer_plan(mimo) == "GLLLLGLLLLLG");
  CHECK(kinds(mimo) == "G 4x192/128, L128 8x192/128");
  CHECK(mimo.rope_theta_local == 10'000);
  CHECK(mimo.rope_theta_global == 5'000'000);
  CHECK(mimo.sinks == "a learned bias on sliding layers");

  const Model baichuan =
      reading_of(
          "{'model_type': 'baichuan_m1', 'num_hidden_layers': 4, 'hidden_size': 5120, "
          "'num_attention_heads': 20, 'num_key_value_heads': 2, 'num_swa_attention_heads': 40, "
          "'num_swa_key_value_heads': 8, 'sliding_window': 8192, 'conv_window': 2, "
          "'sliding_window_layers': [1, 3], 'max_position_embeddings': 32768}")
          .model;
  CHECK(layer_plan(baichuan) == "GLGL");
  CHECK(kinds(baichuan) == "G 2x256, L8192 8x128");
  CHECK(logical_bytes(baichuan, {1, 1}) * 10 == 40'960 + 81'920);

  const Model inkling =
      reading_of(
          "{'model_type': 'inkling_mm_model', 'text_config': {'num_hidden_layers': 7, "
          "'hidden_size': 4096, 'num_attention_heads': 32, 'num_key_value_heads': 8, 'head_dim': "
          "128, "
          "'swa_num_key_value_heads': 16, 'swa_head_dim': 64, 'sliding_window_size': 512, "
          "'local_layer_ids': [0, 1, 2, 3, 4, 6], 'model_max_length': 1048576}}")
          .model;
  CHECK(layer_plan(inkling) == "LLLLLGL");
  CHECK(kinds(inkling) == "L512 16x64, G 8x128");
  CHECK(inkling.max_positions == 1'048'576);
}

TEST_CASE("layers that read the cache of another") {
  const std::string gemma =
      "'model_type': 'gemma3n', 'num_hidden_layers': 30, "
      "'hidden_size': 2048, 'num_attention_heads': 8, "
      "'num_key_value_heads': 2, 'sliding_window': 512, ";
  const Model e2b = reading_of("{" + gemma + "'num_kv_shared_layers': 10}").model;
  CHECK(layer_plan(e2b) == over("LLLLG", 20) + over("llllg", 10));
  CHECK(logical_bytes(e2b, {1, 1}) == 8'192 + 32'768);
  CHECK(owners(reading_of("{" + gemma + "'head_dim': 256}").model) == over("LLLLG", 15));

  const Model hymba =
      reading_of(
          "{'model_type': 'hymba', 'num_hidden_layers': 8, 'hidden_size': 1600, "
          "'num_attention_heads': 25, 'num_key_value_heads': 5, 'sliding_window': 1024, "
          "'global_attn_idx': [0, 4, 7], 'kv_reuse_group': [[1, 2, 3], [5, 6]]}")
          .model;
  CHECK(layer_plan(hymba) == "GLllGLlG");
  CHECK(kinds(hymba) == "G 5x64, L1024 5x64");
}

TEST_CASE("layers without a cache") {
  struct Hybrid {
    std::string config, plan, kinds;
  };
  const std::vector<Hybrid> models = {
      {"'model_type': 'recurrent_gemma', 'num_hidden_layers': 26, 'head_dim': 256, "
       "'num_attention_heads': 10, 'num_key_value_heads': 1, 'attention_window_size': 2048, "
       "'_block_types': ['recurrent', 'recurrent', 'attention']",
       over("SSL", 26), "L2048 1x256"},
      {"'model_type': 'recurrent_gemma', 'num_hidden_layers': 38, 'head_dim': 256, "
       "'num_attention_heads': 16, 'attention_window_size': 2048",
       over("SSL", 38), "L2048 1x256"},
      {"'model_type': 'plamo2', 'num_hidden_layers': 16, 'hidden_size_per_head': 128, "
       "'num_attention_heads': 16, 'num_key_value_heads': 1, 'mamba_step': 2, "
       "'mamba_enabled': true, 'attention_window_size': 2048, 'sliding_window': 2048",
       over("SL", 16), "L2048 1x128"},
      {"'model_type': 'qwen3_next', 'num_hidden_layers': 48, 'head_dim': 256, "
       "'num_attention_heads': 16, 'num_key_value_heads': 2, 'full_attention_interval': 4",
       over("SSSG", 48), "G 2x256"},
      {"'model_type': 'qwen3_5_text', 'num_hidden_layers': 64, 'head_dim': 256, "
       "'num_attention_heads': 24, 'num_key_value_heads': 4, " +
           layer_types(over("SSSG", 64)),
       over("SSSG", 64), "G 4x256"},
      {"'model_type': 'jamba', 'num_hidden_layers': 32, 'hidden_size': 4096, "
       "'num_attention_heads': 32, 'num_key_value_heads': 8, 'attn_layer_offset': 4, "
       "'attn_layer_period': 8",
       over("SSSSGSSS", 32), "G 8x128"},
      {"'model_type': 'nemotron_h', 'num_hidden_layers': 9, 'head_dim': 128, "
       "'num_attention_heads': 32, 'num_key_value_heads': 2, 'sliding_window': null, "
       "'hybrid_override_pattern': 'MEMEM*E-M'",
       "SSSSSGSSS", "G 2x128"},
      {"'model_type': 'kimi_linear', 'num_hidden_layers': 5, 'kv_lora_rank': 512, "
       "'qk_rope_head_dim': 64, 'num_attention_heads': 96, 'num_key_value_heads': 96, "
       "'linear_attn_config': {'full_attn_layers': [4, 5], 'kda_layers': [1, 2, 3]}",
       "SSSGG", "G 1x576 latent/0"},
      {"'model_type': 'lfm2', 'num_hidden_layers': 16, 'hidden_size': 2048, "
       "'num_attention_heads': 32, 'num_key_value_heads': 8, "
       "'full_attn_idxs': [2, 5, 8, 10, 12, 14]",
       "SSGSSGSSGSGSGSGS", "G 8x64"},
      {"'model_type': 'lfm2', 'num_hidden_layers': 3, 'hidden_size': 2048, "
       "'num_attention_heads': 32, 'num_key_value_heads': 8, "
       "'layer_types': ['conv', 'conv', 'full_attention']",
       "SSG", "G 8x64"},
      {"'model_type': 'granitemoehybrid', 'num_hidden_layers': 3, 'hidden_size': 2048, "
       "'num_attention_heads': 32, 'num_key_value_heads': 8, "
       "'layer_types': ['mamba', 'attention', 'mamba']",
       "SGS", "G 8x64"},
      {"'model_type': 'minimax', 'num_hidden_layers': 3, 'head_dim': 128, "
       "'num_attention_heads': 64, 'num_key_value_heads': 8, 'attn_type_list': [0, 0, 1]",
       "SSG", "G 8x128"},
  };
  for (const Hybrid& hybrid : models) {
    CAPTURE(hybrid.config);
    const Model model = reading_of("{" + hybrid.config + "}").model;
    CHECK(layer_plan(model) == hybrid.plan);
    CHECK(kinds(model) == hybrid.kinds);
  }
}

TEST_CASE("chunks instead of windows") {
  const std::string scout =
      "'num_hidden_layers': 48, 'hidden_size': 5120, "
      "'num_attention_heads': 40, 'num_key_value_heads': 8, "
      "'head_dim': 128, 'attention_chunk_size': 8192, "
      "'max_position_embeddings': 10485760";
  const std::string none = "{'model_type': 'llama4', 'text_config': {'no_rope_layers': [], ";
  const Model model = reading_of(none + scout + "}}").model;
  CHECK(layer_plan(model) == over("CCCG", 48));
  CHECK(kinds(model) == "C8192 8x128, G 8x128");
  CHECK(model.nope == "global layers");
  CHECK(logical_bytes(model, {1, 1}) == 49'152 + 147'456);
  // 1 stands for rotary embedding, and so for chunks, whatever the name says.
  CHECK(layer_plan(reading_of("{'model_type': 'llama4_text', 'no_rope_layers': [0, 1, 1, 0], "
                              "'num_hidden_layers': 4, 'hidden_size': 5120}")
                       .model) == "GCCG");
}

TEST_CASE("a window with compressed rows behind it") {
  const std::string flash =
      "'model_type': 'deepseek_v4', 'num_hidden_layers': 4, 'head_dim': 512, "
      "'num_attention_heads': 64, 'num_key_value_heads': 1, "
      "'qk_rope_head_dim': 64, 'sliding_window': 128, "
      "'rope_theta': 10000, 'compress_rope_theta': 160000, ";
  const ConfigReading reading = reading_of("{" + flash + "'compress_ratios': [0, 4, 128, 4, 0]}");
  CHECK(layer_plan(reading.model) == "LLLL");
  CHECK(kinds(reading.model) ==
        "L128 1x512 latent/0, L128 1/4 1x512 latent/0, "
        "L128 1/128 1x512 latent/0");
  CHECK(has_part(reading.warnings, "5 entries for 4 layers"));
  CHECK(reading.model.rope_theta_global == 160'000);
  const std::string types =
      "'layer_types': ['sliding_attention', 'compressed_sparse_attention', "
      "'heavily_compressed_attention', 'compressed_sparse_attention']}";
  CHECK(reading_of("{" + flash + types).model.layers == reading.model.layers);
}

TEST_CASE("encoders see to both sides") {
  const std::string gemma =
      "{'model_type': 'gemma3_text', 'num_hidden_layers': 6, "
      "'hidden_size': 768, 'num_attention_heads': 3, "
      "'num_key_value_heads': 1, 'sliding_window': 512";
  const Model both = reading_of(gemma + ", 'use_bidirectional_attention': true}").model;
  CHECK(both.encoder);
  CHECK(kinds(both) == "B256+256 1x256, G 1x256");
  CHECK_FALSE(reading_of(gemma + "}").model.encoder);
  const std::string longformer =
      "{'model_type': 'longformer', 'num_hidden_layers': 3, "
      "'hidden_size': 768, 'num_attention_heads': 12";
  CHECK(kinds(reading_of(longformer + ", 'attention_window': 512}").model) == "B256+256 12x64");
  CHECK(kinds(reading_of(longformer + ", 'attention_window': [512, 256, 64]}").model) ==
        "B256+256 12x64, B128+128 12x64, B32+32 12x64");
  CHECK(reading_of(longformer + "}").model.encoder);
}

TEST_CASE("lists with a number of heads for each layer") {
  const Model model = reading_of(
                          "{'model_type': 'gemma3_text', 'num_hidden_layers': 4, "
                          "'hidden_size': 64, 'sliding_window': 8, "
                          "'num_key_value_heads': [4, 0, 2, 1], " +
                          layer_types("LLGG") + "}")
                          .model;
  CHECK(layer_plan(model) == "LSGG");
  CHECK(kinds(model) == "L8 4x256, G 2x256, G 1x256");
}

TEST_CASE("a local layer in GPT-Neo is named so") {
  const std::string neo =
      "{'model_type': 'gpt_neo', 'num_layers': 4, 'num_heads': 12, "
      "'hidden_size': 768, 'window_size': 256, ";
  const Model model = reading_of(neo +
                                 "'attention_types': [[['global', 'local'], 2]], "
                                 "'attention_layers': ['global', 'local', 'global', 'local']}")
                          .model;
  CHECK(layer_plan(model) == "GLGL");
  CHECK(kinds(model) == "G 12x64, L256 12x64");
  CHECK(
      layer_plan(reading_of(neo + "'attention_types': [[['global'], 1], [['local'], 3]]}").model) ==
      "GLLL");
}
