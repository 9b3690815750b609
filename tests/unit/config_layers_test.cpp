// Layers that a config must not be taken to have: windows nobody knows, heads stated twice, caches
// that are not there.
#include <doctest/doctest.h>

#include "unit/config_reading.hpp"

using namespace swa;
using namespace swa::test;

namespace {

void refuses(const std::string& config, const std::string& part) {
  const std::string sentence = refusal(config);
  CAPTURE(config);
  CAPTURE(sentence);
  CHECK(sentence.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("an unknown architecture with a key that is like one of a window is refused") {
  for (const char* key :
       {"'local_attn_window_size': 1024", "'swa_size': 8", "'use_swa': true",
        "'sliding': 18446744073709551615", "'window_size': 9223372036854775808",
        "'attention_layers': ['x']", "'layers_block_type': ['x']", "'chunk_size': 0.5"}) {
    CAPTURE(key);
    refuses(eight_heads("new_one", 2, key),
            "says something about layers that is not known for new_one");
  }
  refuses(eight_heads("new_one", 2, "'use_sliding_window': true"),
          "'use_sliding_window' is true, and which");
  for (const char* key :
       {"'use_swa': false", "'chunk_size_feed_forward': 0", "'swa_layers': []", "'sliding': null",
        "'window': -1", "'window': 0.0", "'use_sliding_window': false, 'max_window_layers': 2"}) {
    CAPTURE(key);
    CHECK(layer_plan(reading_of(eight_heads("new_one", 2, key)).model) == "GG");
  }
}

TEST_CASE("a switch that is off contradicts layer_types where the class reads it") {
  const std::string off = "'sliding_window': 8, 'use_sliding_window': false, " + layer_types("LG");
  CHECK(layer_plan(reading_of(eight_heads("mistral", 2, off)).model) == "LG");
  refuses(eight_heads("gemma2", 2, off), "'use_sliding_window' is false, and 'layer_types' has");
}

TEST_CASE("heads of one kind of layers beside a list of those of each layer are refused") {
  const std::string list = "'num_key_value_heads': [2, 2], 'sliding_window': 8, ";
  const std::string part = " stands beside a list of the key-value heads of each layer";
  refuses(eight_heads("mimo_v2", 2,
                      list + "'hybrid_layer_pattern': [0, 1], 'swa_num_key_value_heads': 4"),
          "'swa_num_key_value_heads' = 4" + part);
  refuses(eight_heads("baichuan_m1", 2,
                      list + "'sliding_window_layers': [0], 'num_swa_key_value_heads': 4"),
          "'num_swa_key_value_heads' = 4" + part);
  refuses(eight_heads("gemma4", 2, list + "'num_global_key_value_heads': 1, " + layer_types("LG")),
          "'num_global_key_value_heads' = 1" + part);
  refuses(eight_heads("step3p5", 2,
                      list + "'attention_other_setting': {'num_attention_groups': 4}, " +
                          layer_types("GL")),
          "'attention_other_setting.num_attention_groups' = 4" + part);
}

TEST_CASE("a layer without a cache has none to share") {
  const std::string shared = "'num_kv_shared_layers': 2, " + layer_types("LGLG");
  CHECK(layer_plan(reading_of(eight_heads("gemma4", 4, shared)).model) == "LGlg");
  refuses(eight_heads("gemma4", 4, "'num_key_value_heads': [0, 4, 4, 4], " + shared),
          "leaves layer 2 no earlier layer of its kind to share with");
  refuses(eight_heads("gemma4", 4, "'num_key_value_heads': [4, 0, 4, 4], " + shared),
          "leaves layer 3");
  const std::string hymba =
      "'sliding_window': 8, 'global_attn_idx': [0], 'kv_reuse_group': [[1, 2]]";
  CHECK(layer_plan(reading_of(eight_heads("hymba", 3, hymba)).model) == "GLl");
  for (const char* heads : {"[4, 0, 4]", "[4, 4, 0]"}) {
    refuses(eight_heads("hymba", 3, "'num_key_value_heads': " + std::string(heads) + ", " + hymba),
            "without a cache");
  }
}

TEST_CASE("a model without any cache is taken") {
  const Model model =
      reading_of(
          "{'model_type': 'new_one', 'num_hidden_layers': 2, 'layer_types': ['mamba', "
          "'mamba']}")
          .model;
  CHECK(layer_plan(model) == "SS");
  CHECK(logical_bytes(model, {1000, 1}) == 0);
  CHECK(layer_plan(reading_of(eight_heads("gemma2", 2, "'num_key_value_heads': [0, 0]")).model) ==
        "SS");
}

TEST_CASE("a window is missing under the name that the architecture gives it") {
  refuses(eight_heads("inkling", 2, "'local_layer_ids': [0]"), "'sliding_window_size' is missing");
  refuses(eight_heads("smallthinker", 2, "'head_dim': 8"), "'sliding_window_size' is missing");
  CHECK(kinds(reading_of(eight_heads("inkling", 2, "'local_layer_ids': [0], 'sliding_window': 8"))
                  .model) == "L8 8x64, G 8x64");
}

TEST_CASE("laguna without its list of layers has the plan of the published models") {
  const ConfigReading reading = reading_of(eight_heads("laguna", 5, "'sliding_window': 8"));
  CHECK(layer_plan(reading.model) == "GLLLG");
  CHECK(has_part(reading.warnings, "by the default of transformers every layer of laguna"));
  CHECK(reading_of(eight_heads("laguna", 2, layer_types("GL"))).warnings.empty());
}
