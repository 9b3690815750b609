// TensorRT-LLM: a pool of blocks for each kind of layer, whose shares of the memory are fixed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "budget/engines.hpp"

namespace swa::engines {
namespace {

// Layers with one window and one number of heads.
struct Pool {
  Layer layer;
  Index layers = 0, row_bytes = 0;
  Index needed = 0, wanted = 0, taken = 0;  // tokens over all sequences
  bool local() const { return layer.is_local(); }
  Index bytes() const { return times(times(taken, layers), row_bytes); }
};

// Chunked attention is a matter of its context phase alone: such layers keep all tokens.
bool slides(const Layer& layer) {
  return layer.window.kind == Window::Kind::causal;
}

void fill(Pool& pool, const Demand& demand, const Settings& settings) {
  const Index block = settings.count("tokens-per-block", 64);
  const Index sinks = settings.count("sink-token-length", 0);
  Index tokens = demand.context, blocks = 0;
  const bool slid = slides(pool.layer) && tokens > pool.layer.window.width;
  if (slid) {
    const Index W = pool.layer.window.width;
    const Index chunk = smaller(settings.count("max-num-tokens", 8192), tokens - W);
    tokens = smaller(tokens, plus(W, chunk));
  }
  tokens = plus(tokens, sinks);
  blocks = ceil_div(tokens, block) + (slid ? 1 : 0);
  pool.needed = times(tokens_held(pool.layer, demand.context), demand.batch);
  pool.wanted = times(tokens, demand.batch);
  pool.taken = times(times(blocks, block), demand.batch);
}

std::vector<Pool> pools_of(const Stage& stage, const Demand& demand, const Settings& settings) {
  std::vector<Pool> pools;
  for (const auto& [layer, count] : stage.layers) {
    if (layer.keeps != Keeps::own) continue;
    pools.push_back({layer, count, row_bytes(layer, demand)});
    fill(pools.back(), demand, settings);
  }
  return pools;
}

// Models for which the manager is the second version, which sizes its pools independently.
bool has_second_manager(const Stage& stage) {
  const std::string& name = stage.model.architecture;
  return name == "gpt_oss" || name.starts_with("gemma3") || name.starts_with("gemma4") ||
         name.starts_with("llama");
}

// Of the memory, each: all alike, or in proportion to bytes per token x window.
std::vector<long double> shares(const std::vector<Pool>& pools, const Demand& demand,
                                bool proportional) {
  std::vector<long double> result;
  long double sum = 0;
  for (const Pool& pool : pools) {
    const Index window =
        slides(pool.layer) ? smaller(pool.layer.window.width, demand.context) : demand.context;
    const long double weight = proportional ? static_cast<long double>(pool.layers) *
                                                  static_cast<long double>(pool.row_bytes) *
                                                  static_cast<long double>(window)
                                            : 1;
    result.push_back(weight);
    sum += weight;
  }
  for (long double& share : result) share /= sum;
  return result;
}

// The memory has to be so large that the share of every pool suffices.
void add_idle_shares(Allocation& result, const std::vector<Pool>& pools,
                     const std::vector<long double>& share) {
  long double memory = 0;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    memory = std::max(memory, static_cast<long double>(pools[i].bytes()) / share[i]);
  }
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const long double size = std::floor(memory * share[i]);
    if (size >= static_cast<long double>(kMaxBytes)) times(kMaxBytes, 2);  // refuses
    result.add(pools[i].local(), Share::idle,
               larger(0, static_cast<Index>(size) - pools[i].bytes()));
  }
}

Allocation allocate_trtllm(const Stage& stage, const Demand& demand, const Settings& settings) {
  refuse_compressed(stage, "TensorRT-LLM");
  refuse_shared(stage, "TensorRT-LLM");
  const std::vector<Pool> pools = pools_of(stage, demand, settings);
  Allocation result;
  for (const Pool& pool : pools) {
    result.add_rows(pool.layer, pool.row_bytes, times(pool.needed, pool.layers),
                    times(pool.wanted, pool.layers), times(pool.taken, pool.layers));
    if (pool.layer.window.kind == Window::Kind::chunked) {
      result.assumptions.push_back("TensorRT-LLM keeps all tokens of chunked layers");
    }
  }
  const std::string rule =
      settings.word("shares", has_second_manager(stage) ? "independent" : "equal");
  if (pools.size() > 1) {
    result.assumptions.push_back(
        fmt::format("{} pools, {} shares of the memory", pools.size(), rule));
    if (rule != "independent") {
      add_idle_shares(result, pools, shares(pools, demand, rule == "proportional"));
    }
  }
  return result;
}

}  // namespace

KvLayout trtllm() {
  using Kind = Setting::Kind;
  return {"trtllm",
          "TensorRT-LLM: a pool of blocks for each window, with fixed shares of the memory",
          "TensorRT-LLM's documentation and batch manager, read in November 2026",
          {{"tokens-per-block", Kind::positive, "64", "tokens of a block"},
           {"max-num-tokens", Kind::positive, "8192", "tokens of one step"},
           {"sink-token-length", Kind::count, "0", "StreamingLLM's sink tokens"},
           {"shares",
            Kind::word,
            "by architecture",
            "how the pools divide the memory: equal (first manager), proportional, or independent "
            "(second manager: gpt-oss, Gemma 3 and 4, Llama)",
            {"equal", "proportional", "independent"}}},
          {"fp32", "bf16", "fp16", "fp8_e4m3", "fp8_e5m2", "int8"},
          allocate_trtllm};
}

}  // namespace swa::engines
