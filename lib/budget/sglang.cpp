// SGLang: one pool of token slots for the layers without a window and one for those with, whose
// sizes have a fixed ratio.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "budget/engines.hpp"

namespace swa::engines {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> families) {
  return std::any_of(families.begin(), families.end(),
                     [&](std::string_view family) { return name.starts_with(family); });
}

// Architectures whose local layers get a pool of their own.
bool has_two_pools(const Stage& stage) {
  return is_one_of(stage.model.architecture, {"llama4", "gpt_oss", "mimo_v2", "mimo2", "step3p5",
                                              "step3p7", "step35", "gemma4", "laguna"});
}

// Slots of the local pool beside so many of the global one, as Python computes them.
Index local_slots(Index full, double ratio, Index page) {
  return static_cast<Index>(static_cast<double>(full) * ratio) / page * page;
}

struct Pools {
  Index full = 0, local = 0;  // slots
};

// The smallest pools that serve the demand. The scheduler gives one request
// max(min(tokens, chunk), W) + page local slots before it may run, and all keep W afterwards.
Pools two_pools(const Demand& demand, const Settings& settings, Index W) {
  const Index page = settings.count("page-size", 1);
  const double ratio = settings.real("swa-full-tokens-ratio", 0.8);
  const Index chunk = settings.count("chunked-prefill-size", 8192);
  const Index window = smaller(demand.context, W);
  const Index one = plus(larger(smaller(demand.context, chunk), window), page);
  const Index least = larger(one, times(window, demand.batch));
  Pools pools;
  pools.full = times(round_up(demand.context, page), demand.batch);
  const double enough = std::ceil(static_cast<double>(least) / ratio);
  if (enough > 0x1p61 || pools.full > kMaxIndex) throw TooManyBytes();
  pools.full = larger(pools.full, round_up(static_cast<Index>(enough), page));
  while (local_slots(pools.full, ratio, page) < least) pools.full = plus(pools.full, page);
  pools.local = local_slots(pools.full, ratio, page);
  return pools;
}

Allocation allocate_sglang(const Stage& stage, const Demand& demand, const Settings& settings) {
  refuse_compressed(stage, "SGLang");
  refuse_shared(stage, "SGLang");
  Index widest = 0;
  for (const auto& [layer, count] : stage.layers) {
    if (layer.is_local()) widest = larger(widest, stated_width(layer.window).value_or(0));
  }
  const bool two =
      widest > 0 && has_two_pools(stage) && !settings.flag("disable-hybrid-swa-memory");
  const Index all = times(round_up(demand.context, settings.count("page-size", 1)), demand.batch);
  const Pools pools = two ? two_pools(demand, settings, widest) : Pools{all, all};
  Allocation result;
  each_kind(stage, demand, [&](const Layer& layer, Index bytes, Index needed) {
    if (two && layer.is_local()) {
      result.add_rows(layer, bytes, needed, needed, needed);
      result.add(true, Share::idle, times(pools.local - needed, bytes));
    } else {
      result.add_rows(layer, bytes, needed, times(demand.context, demand.batch), all);
      result.add(layer.is_local(), Share::idle, times(pools.full - all, bytes));
    }
  });
  if (two) {
    result.assumptions.push_back(fmt::format(
        "a pool of {} slots for global layers and of {} for local ones", pools.full, pools.local));
  } else if (widest > 0) {
    const bool is_known =
        is_one_of(stage.model.architecture, {"gemma2", "gemma3", "exaone4", "exaone_moe", "olmo"});
    result.assumptions.push_back(
        is_known || settings.flag("disable-hybrid-swa-memory")
            ? "SGLang keeps all tokens of this architecture's local layers"
            : "SGLang is not known to have a pool for this architecture's windows: if it runs "
              "there, all tokens are kept");
  }
  return result;
}

}  // namespace

KvLayout sglang() {
  using Kind = Setting::Kind;
  return {
      .name = "sglang",
      .summary = "SGLang: two pools of token slots with a fixed ratio",
      .source = "SGLang of 2026-07-13, as antgroup/sglang carries it (9fec359a60)",
      .settings = {{"page-size", Kind::positive, "1", "tokens of a page"},
                   {"swa-full-tokens-ratio", Kind::real, "0.8",
                    "slots of the local pool per global one"},
                   {"chunked-prefill-size", Kind::positive, "8192", "tokens of a prefill chunk"},
                   {"disable-hybrid-swa-memory", Kind::flag, "off", "all layers keep all tokens"}},
      .types = {"fp32", "bf16", "fp16", "fp8_e4m3", "fp8_e5m2"},
      .one_type = true,
      .allocate = allocate_sglang};
}

}  // namespace swa::engines
