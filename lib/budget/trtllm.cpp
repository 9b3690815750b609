// TensorRT-LLM: a pool of blocks for each window, whose shares of the memory are fixed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "budget/engines.hpp"

namespace swa::engines {
namespace {

// Layers that keep the same tokens in rows of one shape.
struct Pool {
  Index window = 0;  // tokens; the context where all are kept
  Index kv_heads = 0, head_dim_k = 0, head_dim_v = 0;
  Index bytes = 0;
  long double weight = 0;  // bytes per token x window
  bool local = false;
};

// A window slides only where it is shorter than the context. Chunked attention is a matter of the
// context phase alone: such layers keep all tokens.
bool slides(const Layer& layer, const Demand& demand) {
  return layer.window.kind == Window::Kind::causal && layer.window.width < demand.context;
}

// Tokens of a sequence while a step of its prefill is computed, and the blocks that hold them: one
// more where the window may begin and end within a block.
struct Need {
  Index tokens, blocks;
};

Need need_of(const Layer& layer, const Demand& demand, const Settings& settings) {
  const Index block = settings.count("tokens-per-block", 64);
  if (!slides(layer, demand)) return {demand.context, ceil_div(demand.context, block)};
  const Index W = layer.window.width;
  const Index step = smaller(settings.count("max-num-tokens", 8192), demand.context - W);
  const Index tokens = plus(W, step);
  return {tokens, ceil_div(tokens, block) + 1};
}

Pool& pool_for(std::vector<Pool>& pools, const Layer& layer, const Demand& demand) {
  const bool local = slides(layer, demand);
  const Index window = local ? layer.window.width : demand.context;
  const auto found = std::find_if(pools.begin(), pools.end(), [&](const Pool& pool) {
    return pool.window == window && pool.kv_heads == layer.kv_heads &&
           pool.head_dim_k == layer.head_dim_k && pool.head_dim_v == layer.head_dim_v;
  });
  if (found != pools.end()) return *found;
  pools.push_back({window, layer.kv_heads, layer.head_dim_k, layer.head_dim_v, 0, 0, local});
  return pools.back();
}

// Models for which the manager is the second version, which sizes its pools independently.
bool has_second_manager(const Stage& stage) {
  const std::string& name = stage.model.architecture;
  return name == "gpt_oss" || name.starts_with("gemma3") || name.starts_with("gemma4") ||
         name.starts_with("llama");
}

// The memory has to be so large that the share of every pool suffices; shares are all alike, or in
// proportion to bytes per token x window.
void add_idle_shares(Allocation& result, const std::vector<Pool>& pools, bool proportional) {
  long double sum = 0, memory = 0;
  const auto weight = [&](const Pool& pool) { return proportional ? pool.weight : 1; };
  for (const Pool& pool : pools) sum += weight(pool);
  for (const Pool& pool : pools) {
    memory = std::max(memory, static_cast<long double>(pool.bytes) * sum / weight(pool));
  }
  for (const Pool& pool : pools) {
    const long double size = std::floor(memory * weight(pool) / sum);
    if (size >= static_cast<long double>(kMaxBytes)) throw TooManyBytes();
    result.add(pool.local, Share::idle, larger(0, static_cast<Index>(size) - pool.bytes));
  }
}

Allocation allocate_trtllm(const Stage& stage, const Demand& asked, const Settings& settings) {
  refuse_compressed(stage, "TensorRT-LLM");
  refuse_shared(stage, "TensorRT-LLM");
  Demand demand = asked;
  demand.k.scale_bytes = demand.v.scale_bytes = 0;  // int8 has one scale for a whole tensor
  std::vector<Pool> pools;
  bool has_chunks = false;
  Allocation result;
  each_kind(stage, demand, [&](const Layer& layer, Index bytes, Index needed) {
    const Need need = need_of(layer, demand, settings);
    const Index block = settings.count("tokens-per-block", 64);
    const Index taken = times(times(need.blocks, block), demand.batch);
    result.add_rows(layer, bytes, needed, times(need.tokens, demand.batch), taken);
    Pool& pool = pool_for(pools, layer, demand);
    pool.bytes = plus(pool.bytes, times(taken, bytes));
    pool.weight += static_cast<long double>(bytes) * static_cast<long double>(pool.window);
    has_chunks = has_chunks || layer.window.kind == Window::Kind::chunked;
  });
  if (has_chunks) {
    result.assumptions.push_back("TensorRT-LLM keeps all tokens of chunked layers");
  }
  const std::string rule =
      settings.word("shares", has_second_manager(stage) ? "independent" : "equal");
  if (pools.size() > 1) {
    result.assumptions.push_back(
        fmt::format("{} pools, {} shares of the memory", pools.size(), rule));
    if (rule != "independent") add_idle_shares(result, pools, rule == "proportional");
  }
  return result;
}

}  // namespace

KvLayout trtllm() {
  using Kind = Setting::Kind;
  return {
      .name = "trtllm",
      .summary = "TensorRT-LLM: a pool of blocks for each window, with fixed shares of the memory",
      .source = "TensorRT-LLM's documentation and batch manager, read in November 2026",
      .settings = {{"tokens-per-block", Kind::positive, "64", "tokens of a block"},
                   {"max-num-tokens", Kind::positive, "8192", "tokens of one step"},
                   {"shares",
                    Kind::word,
                    "by architecture",
                    "how the pools divide the memory: equal (first manager), proportional, or "
                    "independent (second manager: gpt-oss, Gemma 3 and 4, Llama)",
                    {"equal", "proportional", "independent"}}},
      .types = {"fp32", "bf16", "fp16", "fp8_e4m3", "fp8_e5m2", "int8"},
      .one_type = true,
      .allocate = allocate_trtllm};
}

}  // namespace swa::engines
