// Configs as copies on Hugging Face have them, where they differ in kind from those beside them.
#include <doctest/doctest.h>

#include <string>

#include "unit/config_reading.hpp"

using namespace swa;
using namespace swa::test;

namespace {

std::string plan_of(const std::string& config) {
  return layer_plan(reading_of(config).model);
}

const std::string kGemma3 =
    "'model_type': 'gemma3_text', '_sliding_window_pattern': 6, 'head_dim': 256, "
    "'rope_local_base_freq': 10000, 'rope_theta': 1000000, 'sliding_window': 512, "
    "'max_position_embeddings': 32768, 'num_attention_heads': 4, 'num_key_value_heads': 1, ";

}  // namespace

TEST_CASE("a window that is not below the positions stays and never binds") {
  for (const std::string layers : {"36", "32"}) {
    const std::string config =
        "{'model_type': 'mistral', 'head_dim': 128, 'hidden_size': 4096, 'num_attention_heads': "
        "32, "
        "'num_key_value_heads': 8, 'max_position_embeddings': 32768, 'sliding_window': 32768, "
        "'num_hidden_layers': " +
        layers + "}";
    CHECK(plan_of(config) == over("L", std::stoul(layers)));
    CHECK(kinds(reading_of(config).model) == "L32768 8x128");
    CHECK(has_part(reading_of(config).warnings, "never binds"));
  }
}

TEST_CASE("layer_types beside the pattern that it repeats") {
  const std::string one = over("LLLLLG", 26), small = over("LLLLLG", 18);
  CHECK(plan_of("{" + kGemma3 + "'hidden_size': 1152, 'num_hidden_layers': 26, " +
                layer_types(one) + "}") == one);
  CHECK(plan_of("{" + kGemma3 + "'hidden_size': 640, 'num_hidden_layers': 18, " +
                "'use_bidirectional_attention': false, " + layer_types(small) + "}") == small);
  const std::string olmo = over("LLLG", 32);
  CHECK(plan_of("{'model_type': 'olmo3', 'hidden_size': 4096, 'max_position_embeddings': 65536, "
                "'num_attention_heads': 32, 'num_hidden_layers': 32, 'num_key_value_heads': 32, "
                "'sliding_window': 4096, " +
                layer_types(olmo) + "}") == olmo);
}

TEST_CASE("GPT-Neo of 24 layers by its types and by its list") {
  const std::string shape =
      "'model_type': 'gpt_neo', 'hidden_size': 2048, 'max_position_embeddings': 2048, 'num_heads': "
      "16, 'num_layers': 24, 'window_size': 256, 'attention_types': [[['global', 'local'], 12]]";
  const Model model = reading_of("{" + shape + "}").model;
  CHECK(layer_plan(model) == over("GL", 24));
  CHECK(kinds(model) == "G 16x128, L256 16x128");
}
