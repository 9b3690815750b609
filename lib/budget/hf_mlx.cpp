// Caches that belong to one generation: those of transformers and of mlx-lm.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "budget/engines.hpp"

namespace swa::engines {
namespace {

// A dynamic local layer keeps the newest W - 1 tokens, by a slice that keeps all where W = 1. A
// static one has room for W. Chunks are treated as windows.
Index hf_rows(const Layer& layer, const Demand& demand, bool is_static) {
  if (!layer.is_local()) return demand.context;
  const Index W = layer.window.width;
  if (is_static) return smaller(demand.context, W);
  return W == 1 ? demand.context : smaller(demand.context, W - 1);
}

Allocation allocate_hf(const Stage& stage, const Demand& demand, const Settings& settings) {
  refuse_compressed(stage, "transformers");
  const bool is_static = settings.word("cache", "dynamic") == "static";
  // Its configuration has neither of the keys by which the cache knows of windows.
  const bool has_windows = stage.model.architecture != "gpt_neo";
  Allocation result;
  if (!has_windows) {
    result.assumptions.push_back("transformers keeps all tokens of GPT-Neo's local layers");
  }
  each_kind(stage, demand, [&](const Layer& layer, Index bytes, Index needed) {
    const Index rows = has_windows ? hf_rows(layer, demand, is_static) : demand.context;
    const Index kept = times(rows, demand.batch);
    result.add_rows(layer, bytes, needed, kept, kept);
  });
  result.assumptions.push_back(
      is_static ? "StaticCache of ctx tokens"
                : "DynamicCache between two steps; a prefill holds its own tokens besides");
  return result;
}

constexpr Index kMlxStep = 256;  // tokens by which a cache grows

enum class MlxCache : std::uint8_t { rotating, plain, unknown };

// What the model files of mlx-lm make for their local layers.
MlxCache mlx_cache(const Stage& stage) {
  constexpr std::array<std::string_view, 15> kRotating{
      "gemma3",  "gemma3_text", "gemma3n",     "gemma4",        "gemma4_text",
      "gpt_oss", "cohere2",     "olmo3",       "exaone4",       "exaone_moe",
      "afmoe",   "laguna",      "baichuan_m1", "mimo_v2_flash", "step3p5"};
  constexpr std::array<std::string_view, 6> kPlain{"gemma2", "starcoder2", "phi3",
                                                   "plamo2", "mistral",    "llama"};
  const std::string& name = stage.model.architecture;
  if (std::count(kRotating.begin(), kRotating.end(), name) == 1) return MlxCache::rotating;
  return std::count(kPlain.begin(), kPlain.end(), name) == 1 ? MlxCache::plain : MlxCache::unknown;
}

void refuse_unknown_windows(const Stage& stage, MlxCache cache) {
  for (const auto& [layer, count] : stage.layers) {
    if (!layer.is_local()) continue;
    if (cache != MlxCache::unknown && layer.window.kind == Window::Kind::causal) continue;
    throw UsageError(fmt::format("what mlx-lm keeps in the local layers of {} is not known here",
                                 stage.model.id),
                     "ask for --layout logical");
  }
}

Allocation allocate_mlx(const Stage& stage, const Demand& demand, const Settings& settings) {
  refuse_compressed(stage, "mlx-lm");
  const MlxCache cache = mlx_cache(stage);
  refuse_unknown_windows(stage, cache);
  const Index step = settings.count("prefill-step-size", 2048);
  Allocation result;
  bool any_local = false;
  each_kind(stage, demand, [&](const Layer& layer, Index bytes, Index needed) {
    Index wanted = demand.context, taken = round_up(demand.context, kMlxStep);
    any_local = any_local || layer.is_local();
    if (layer.is_local() && cache == MlxCache::rotating) {
      const Index W = layer.window.width;
      wanted = smaller(demand.context, plus(W - 1, smaller(step, demand.context)));
      taken = larger(wanted, smaller(taken, W));
    }
    result.add_rows(layer, bytes, needed, times(wanted, demand.batch), times(taken, demand.batch));
  });
  if (any_local) {
    result.assumptions.push_back(
        cache == MlxCache::rotating
            ? "a RotatingKVCache for each local layer, just after a prefill step"
            : "mlx-lm keeps all tokens of this architecture's local layers");
  }
  return result;
}

}  // namespace

KvLayout hf() {
  return {
      .name = "hf",
      .summary = "Hugging Face transformers: the newest W - 1 tokens of a local layer",
      .source =
          "transformers 5.0.1.dev0 of 2026-02-18, as ROCm/transformers carries it "
          "(6978a60aa5)",
      .settings =
          {{"cache", Setting::Kind::word, "dynamic", "dynamic or static", {"dynamic", "static"}}},
      .types = {"fp32", "bf16", "fp16"},
      .one_type = true,
      .allocate = allocate_hf};
}

KvLayout mlx() {
  return {.name = "mlx",
          .summary = "mlx-lm: a rotating cache, which a prefill step makes longer than the window",
          .source = "mlx-lm d78bf58 of 2026-08-22",
          .settings = {{"prefill-step-size", Setting::Kind::positive, "2048",
                        "tokens of a prefill step"}},
          .types = {"fp32", "bf16", "fp16"},
          .one_type = true,
          .allocate = allocate_mlx};
}

}  // namespace swa::engines
