#include "model/gguf/architectures.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace swa {
namespace {

using Local = GgufArchitecture::Local;
using Plan = GgufArchitecture::Plan;
constexpr Index kRequired = GgufArchitecture::kRequired;

constexpr GgufArchitecture windowed(std::string_view name, std::string_view model_type, Plan plan,
                                    Index period, Index window) {
  return {name, model_type, Local::causal, plan, period, window};
}

constexpr GgufArchitecture kArchitectures[] = {
    windowed("afmoe", "afmoe", Plan::last_global, 4, 0),
    windowed("cohere2", "cohere2", Plan::last_global, 4, kRequired),
    windowed("cohere2moe", "cohere2_moe", Plan::first_global, 0, kRequired),
    windowed("exaone-moe", "exaone_moe", Plan::last_global, 4, kRequired),
    windowed("exaone4", "exaone4", Plan::last_global, 4, 4096),
    windowed("gemma2", "gemma2", Plan::last_global, 2, 4096),
    windowed("gemma3", "gemma3_text", Plan::last_global, 6, 0),
    windowed("gpt-oss", "gpt_oss", Plan::last_global, 2, kRequired),
    windowed("laguna", "laguna", Plan::first_global, 4, 0),
    windowed("lfm2", "lfm2", Plan::every, 0, 0),
    windowed("mellum", "", Plan::last_global, 0, 0),
    windowed("mimo2", "", Plan::listed, 0, kRequired),
    windowed("muse-glimmer", "muse_glimmer", Plan::last_global, 0, kRequired),
    windowed("olmo2", "", Plan::last_global, 4, 0),
    windowed("plamo3", "plamo3", Plan::last_global, 8, 0),
    windowed("smallthinker", "smallthinker", Plan::first_global, 4, 0),
    windowed("step35", "", Plan::listed, 0, kRequired),
    {.name = "gemma3n",
     .model_type = "gemma3n",
     .local = Local::causal,
     .plan = Plan::last_global,
     .period = 5,
     .window = kRequired,
     .shares = true,
     .owners = 20},
    {.name = "gemma4",
     .model_type = "gemma4_text",
     .local = Local::causal,
     .plan = Plan::listed,
     .window = kRequired,
     .shares = true},
    {.name = "phi3",
     .model_type = "phi3",
     .local = Local::causal,
     .warning = "llama.cpp computes every layer of phi3 without the window (its issue 13676), and "
                "caches all tokens"},
    {.name = "llama4",
     .model_type = "llama4_text",
     .local = Local::chunked,
     .plan = Plan::last_global,
     .period = 4,
     .window = 8192},
    {.name = "gemma-embedding",
     .model_type = "gemma3_text",
     .local = Local::symmetric,
     .plan = Plan::last_global,
     .period = 6,
     .window = kRequired,
     .encoder = true},
    {.name = "modern-bert",
     .model_type = "modernbert",
     .local = Local::symmetric,
     .plan = Plan::first_global,
     .period = 3,
     .encoder = true},

    {.name = "qwen3next", .model_type = "qwen3_next", .interval = 4},
    {.name = "qwen35", .model_type = "qwen3_5_text", .interval = 4},
    {.name = "qwen35moe", .interval = 4},
    {.name = "minimax-01", .interval = 8},
    {.name = "deepseek2", .latent = true},
    {.name = "kimi-linear", .model_type = "kimi_linear", .latent = true},
    {.name = "mistral4", .latent = true},

    {.name = "llama",
     .warning = "Mistral models are stored as llama too, and their window is not: the layers are "
                "global here, as in llama.cpp, whatever the config.json says"},
    {.name = "plamo2",
     .model_type = "plamo2",
     .warning = "the window of plamo2 is not stored in GGUF files: its attention layers are global "
                "here, as in llama.cpp, whatever the config.json says"},
    {.name = "starcoder2",
     .model_type = "starcoder2",
     .warning = "the window of starcoder2 is not stored in GGUF files: the layers are global here, "
                "as in llama.cpp, whatever the config.json says"},
};

// Each layer attends to all tokens, or has no heads for keys and values and then no attention.
constexpr std::string_view kGlobal[] = {
    "apertus",       "arcee",      "arctic",         "baichuan",   "bailingmoe",
    "bailingmoe2",   "bert",       "bitnet",         "bloom",      "chameleon",
    "chatglm",       "codeshell",  "cogvlm",         "command-r",  "dbrx",
    "deci",          "deepseek",   "dots1",          "ernie4_5",   "ernie4_5-moe",
    "eurobert",      "exaone",     "falcon",         "falcon-h1",  "gemma",
    "glm4",          "glm4moe",    "gpt2",           "gptneox",    "granite",
    "granitehybrid", "granitemoe", "grok",           "grovemoe",   "hunyuan-dense",
    "hunyuan-moe",   "internlm2",  "jais",           "jais2",      "jamba",
    "jina-bert-v2",  "lfm2moe",    "maincoder",      "minicpm",    "minimax-m2",
    "mistral3",      "mpt",        "nemotron",       "nemotron_h", "nemotron_h_moe",
    "neo-bert",      "nomic-bert", "nomic-bert-moe", "olmo",       "olmoe",
    "openelm",       "orion",      "pangu-embedded", "phi2",       "phimoe",
    "plamo",         "qwen",       "qwen2",          "qwen2moe",   "qwen2vl",
    "qwen3",         "qwen3moe",   "qwen3vl",        "qwen3vlmoe", "refact",
    "seed_oss",      "smollm3",    "stablelm",       "starcoder",  "xverse",
};

}  // namespace

const GgufArchitecture* find_gguf_architecture(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                   [&](const GgufArchitecture& known) { return known.name == name; });
  if (found != std::end(kArchitectures)) return found;
  // Their names and those of the config.json mostly differ, so the latter stay open.
  static constexpr GgufArchitecture kPlain{};
  const bool plain = std::find(std::begin(kGlobal), std::end(kGlobal), name) != std::end(kGlobal);
  return plain ? &kPlain : nullptr;
}

}  // namespace swa
