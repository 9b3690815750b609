// The catalogue against figures that were written down apart from it: layers of each kind, and
// bytes of bf16 per token of the context and per token that the windows hold.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "budget/demand.hpp"
#include "model/names.hpp"

using namespace swa;

namespace {

const std::vector<Model>& catalogue() {
  static const std::vector<Model> kModels = read_catalogue(SWA_SOURCE_DIR "/data/models");
  return kModels;
}

struct Figures {
  const char* id;
  Index global, local, states;
  Index per_token, per_retained_token;
  Index max_positions;  // 0: not known
};

const std::vector<Figures>& figures() {
  static const std::vector<Figures> kFigures{
      {"mistral-7b-v0.1", 0, 32, 0, 0, 131072, 32768},
      {"mistral-7b-v0.2", 32, 0, 0, 131072, 0, 32768},
      {"mixtral-8x7b", 32, 0, 0, 131072, 0, 32768},
      {"mixtral-8x22b", 56, 0, 0, 229376, 0, 65536},
      {"ministral-8b-2410", 0, 36, 0, 0, 147456, 32768},
      {"mathstral-7b", 0, 32, 0, 0, 131072, 32768},
      {"h2o-danube-1.8b", 0, 24, 0, 0, 61440, 16384},
      {"h2o-danube2-1.8b", 24, 0, 0, 61440, 0, 8192},
      {"tinymistral-248m", 0, 12, 0, 0, 12288, 32768},
      {"gemma-2-2b", 13, 13, 0, 53248, 53248, 8192},
      {"gemma-2-9b", 21, 21, 0, 172032, 172032, 8192},
      {"gemma-2-27b", 23, 23, 0, 188416, 188416, 8192},
      {"gemma-3-270m", 3, 15, 0, 3072, 15360, 32768},
      {"gemma-3-1b", 4, 22, 0, 4096, 22528, 32768},
      {"gemma-3-4b", 5, 29, 0, 20480, 118784, 131072},
      {"gemma-3-12b", 8, 40, 0, 65536, 327680, 131072},
      {"gemma-3-27b", 10, 52, 0, 81920, 425984, 131072},
      {"embeddinggemma-300m", 4, 20, 0, 4096, 20480, 2048},
      {"gemma-3n-e2b", 6, 24, 0, 8192, 32768, 32768},
      {"gemma-3n-e4b", 7, 28, 0, 8192, 32768, 32768},
      {"gemma-4-e2b", 7, 28, 0, 6144, 12288, 131072},
      {"gemma-4-e4b", 7, 35, 0, 16384, 40960, 131072},
      {"gemma-4-12b", 8, 40, 0, 16384, 327680, 131072},
      {"gemma-4-26b-a4b", 5, 25, 0, 20480, 204800, 262144},
      {"gemma-4-31b", 10, 50, 0, 81920, 819200, 262144},
      {"vaultgemma-1b", 13, 13, 0, 53248, 53248, 8192},
      {"t5gemma", 13, 13, 0, 53248, 53248, 8192},
      {"gpt-oss-20b", 12, 12, 0, 24576, 24576, 131072},
      {"gpt-oss-120b", 18, 18, 0, 36864, 36864, 131072},
      {"llama-4-scout", 12, 36, 0, 49152, 147456, 10485760},
      {"llama-4-maverick", 12, 36, 0, 49152, 147456, 1048576},
      {"cwm-32b", 16, 48, 0, 65536, 196608, 131072},
      {"muse-glimmer-30b", 13, 39, 0, 13312, 39936, 131072},
      {"phi-3-mini-4k", 0, 32, 0, 0, 393216, 4096},
      {"phi-3-medium-4k", 0, 40, 0, 0, 204800, 4096},
      {"phi-3.5-mini", 0, 32, 0, 0, 393216, 131072},
      {"phi-4", 40, 0, 0, 204800, 0, 16384},
      {"phi-4-mini", 0, 32, 0, 0, 131072, 131072},
      {"qwen2-72b", 80, 0, 0, 327680, 0, 32768},
      {"qwen2.5-coder-3b", 36, 0, 0, 36864, 0, 32768},
      {"qwen2.5-32b", 64, 0, 0, 262144, 0, 32768},
      {"qwen3-8b", 36, 0, 0, 147456, 0, 40960},
      {"command-r7b", 8, 24, 0, 32768, 98304, 8192},
      {"olmo-3-7b", 8, 24, 0, 131072, 393216, 65536},
      {"olmo-3-32b", 16, 48, 0, 65536, 196608, 65536},
      {"exaone-4.0-32b", 16, 48, 0, 65536, 196608, 131072},
      {"exaone-4.0-1.2b", 30, 0, 0, 61440, 0, 65536},
      {"exaone-4.5-33b", 16, 48, 0, 65536, 196608, 262144},
      {"mimo-v2-flash", 9, 39, 0, 23040, 199680, 262144},
      {"step-3.5-flash", 12, 33, 0, 49152, 135168, 262144},
      {"step-3.7-flash", 12, 33, 0, 49152, 135168, 65536},
      {"trinity-nano", 14, 42, 0, 14336, 43008, 131072},
      {"trinity-mini", 8, 24, 0, 16384, 49152, 131072},
      {"laguna-xs.2", 10, 30, 0, 40960, 122880, 131072},
      {"laguna-s-2.1", 12, 36, 0, 49152, 147456, 1048576},
      {"smollm3-3b", 36, 0, 0, 73728, 0, 65536},
      {"baichuan-m1-14b", 20, 20, 0, 40960, 81920, 32768},
      {"starcoder2-3b", 0, 30, 0, 0, 30720, 16384},
      {"starcoder2-7b", 0, 32, 0, 0, 65536, 16384},
      {"starcoder2-15b", 0, 40, 0, 0, 81920, 16384},
      {"recurrentgemma-2b", 0, 8, 18, 0, 8192, 0},
      {"recurrentgemma-9b", 0, 12, 26, 0, 12288, 0},
      {"modernbert-base", 8, 14, 0, 24576, 43008, 8192},
      {"modernbert-large", 10, 18, 0, 40960, 73728, 8192},
      {"gpt-neo-125m", 6, 6, 0, 18432, 18432, 2048},
      {"longformer-base", 0, 12, 0, 0, 36864, 4096},
      {"plamo-2-1b", 0, 8, 8, 0, 4096, 10485760},
      {"qwen3.5-27b", 16, 0, 48, 65536, 0, 262144},
      {"nemotron-3-nano-30b", 6, 0, 46, 6144, 0, 262144},
      {"lfm2-1.2b", 6, 0, 10, 12288, 0, 0},
      {"lfm2-8b-a1b", 6, 0, 18, 12288, 0, 0},
      {"granite-4.0-h-micro", 4, 0, 36, 8192, 0, 0},
      {"falcon-h1-34b", 72, 0, 0, 147456, 0, 0},
      {"jamba-v0.1", 4, 0, 28, 16384, 0, 0},
      {"minimax-m2.5", 62, 0, 0, 253952, 0, 196608},
      {"minimax-m3", 60, 0, 0, 122880, 0, 1048576}};
  return kFigures;
}

// Bytes of one token in the layers of a kind that have a cache of their own.
Index bytes_of_token(const Model& model, bool local) {
  Index bytes = 0;
  for (const Layer& layer : model.layers) {
    if (layer.keeps == Keeps::own && layer.is_local() == local) bytes += row_bytes(layer, {});
  }
  return bytes;
}

}  // namespace

TEST_CASE("layers, heads and contexts of the catalogue") {
  for (const Figures& f : figures()) {
    CAPTURE(f.id);
    const Model* model = find_model(catalogue(), f.id);
    REQUIRE(model != nullptr);
    REQUIRE(model->unknown.empty());
    CHECK(model->id == f.id);
    CHECK(model->global_layers() == f.global);
    CHECK(model->local_layers() == f.local);
    const auto states = std::count_if(model->layers.begin(), model->layers.end(),
                                      [](const Layer& layer) { return !layer.has_cache(); });
    CHECK(states == f.states);
    CHECK(bytes_of_token(*model, false) == f.per_token);
    CHECK(bytes_of_token(*model, true) == f.per_retained_token);
    CHECK(model->max_positions.value_or(0) == f.max_positions);
  }
}

TEST_CASE("every entry of the catalogue is whole or says what is not known") {
  CHECK(catalogue().size() >= 99);
  std::size_t unknown = 0;
  for (const Model& model : catalogue()) {
    CAPTURE(model.id);
    CHECK_FALSE(model.source.empty());
    CHECK_FALSE(model.sure.empty());
    CHECK(model.layers.empty() == !model.unknown.empty());
    unknown += model.unknown.empty() ? 0 : 1;
    for (const Layer& layer : model.layers) {
      if (layer.keeps == Keeps::none) continue;
      CHECK(layer.kv_heads >= 1);
      CHECK(layer.head_dim_k >= 1);
      CHECK((layer.head_dim_v >= 1 || layer.latent));
    }
    CHECK(model.global_layers() + model.local_layers() <= static_cast<Index>(model.layers.size()));
  }
  CHECK(unknown == catalogue().size() - figures().size() - 4);  // kimi-k3, DeepSeek's two, 5to1
}

TEST_CASE("models are found under the names that people write") {
  const auto id = [](const char* typed) -> std::string {
    const Model* model = find_model(catalogue(), typed);
    return model == nullptr ? "" : model->id;
  };
  for (const char* typed : {"gemma-2-27b", "gemma2-27b", "gemma-2-27b-it", "google/gemma-2-27b",
                            "google/gemma-2-27b-it", "Gemma 2 27B", "gemma_2_27b", "GEMMA2-27B"}) {
    CAPTURE(typed);
    CHECK(id(typed) == "gemma-2-27b");
  }
  CHECK(id("gemma2-27b-5to1") == "gemma2-27b-5to1");
  CHECK(id("mistralai/Mistral-7B-Instruct-v0.2") == "mistral-7b-v0.2");
  CHECK(id("Qwen/Qwen2-72B") == "qwen2-72b");
  CHECK(id("openai/gpt-oss-120b") == "gpt-oss-120b");
  // Another publisher's copy may differ, and a name that is only near may be another model.
  CHECK(id("unsloth/gemma-2-27b") == "");
  CHECK(id("gemma-2-28b") == "");
  CHECK(id("lfm2-12b") == "");
  CHECK(id("") == "");
  CHECK(id("google/") == "");
  // Each is found under its own names, and no two share one.
  for (const Model& model : catalogue()) {
    CAPTURE(model.id);
    CHECK(find_model(catalogue(), model.id) == &model);
    if (!model.hf_id.empty()) CHECK(find_model(catalogue(), model.hf_id) == &model);
    for (const std::string& alias : model.aliases) CHECK(find_model(catalogue(), alias) == &model);
  }
}
