// Caches that belong to one generation: those of transformers and of mlx-lm.
#include <fmt/format.h>

#include <algorithm>

#include "budget/engines.hpp"
#include "error.hpp"

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
  for (const auto& [layer, count] : stage.layers) {
    if (layer.keeps != Keeps::own) continue;
    const Index needed = times(tokens_held(layer, demand.context), demand.batch);
    const Index rows = has_windows ? hf_rows(layer, demand, is_static) : demand.context;
    const Index kept = times(rows, demand.batch);
    result.add_rows(layer, times(row_bytes(layer, demand), count), needed, kept, kept);
  }
  result.assumptions.push_back(
      is_static ? "StaticCache of ctx tokens"
                : "DynamicCache between two steps; a prefill holds its own tokens besides");
  return result;
}

constexpr Index kMlxStep = 256;  // tokens by which a cache grows

Allocation allocate_mlx(const Stage& stage, const Demand& demand, const Settings& settings) {
  refuse_compressed(stage, "mlx-lm");
  const Index step = settings.count("prefill-step-size", 2048);
  Allocation result;
  for (const auto& [layer, count] : stage.layers) {
    if (layer.keeps != Keeps::own) continue;
    if (layer.window.kind == Window::Kind::chunked) {
      throw UsageError(fmt::format("how many rows mlx-lm keeps in the chunked layers of {} is not "
                                   "known here",
                                   stage.model.id),
                       "ask for --layout logical");
    }
    const Index needed = tokens_held(layer, demand.context);
    Index wanted = demand.context, taken = round_up(demand.context, kMlxStep);
    if (layer.is_local()) {
      const Index W = layer.window.width;
      wanted = smaller(demand.context, plus(W - 1, smaller(step, demand.context)));
      taken = larger(wanted, smaller(round_up(demand.context, kMlxStep), W));
    }
    result.add_rows(layer, times(row_bytes(layer, demand), count), times(needed, demand.batch),
                    times(wanted, demand.batch), times(taken, demand.batch));
  }
  result.assumptions.push_back("a RotatingKVCache for each local layer, just after a prefill step");
  return result;
}

}  // namespace

KvLayout hf() {
  return {"hf",
          "Hugging Face transformers: the newest W - 1 tokens of a local layer",
          "transformers 5.0.1.dev0 of 2026-02-18, as ROCm/transformers carries it (6978a60aa5)",
          {{"cache", Setting::Kind::word, "dynamic", "dynamic or static", {"dynamic", "static"}}},
          {"fp32", "bf16", "fp16"},
          allocate_hf};
}

KvLayout mlx() {
  return {"mlx",
          "mlx-lm: a rotating cache, which a prefill step makes longer than the window",
          "mlx-lm d78bf58 of 2026-08-22",
          {{"prefill-step-size", Setting::Kind::positive, "2048", "tokens of a prefill step"}},
          {"fp32", "bf16", "fp16"},
          allocate_mlx};
}

}  // namespace swa::engines
