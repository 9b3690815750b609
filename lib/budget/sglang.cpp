// SGLang: one pool of token slots for the layers without a window and one for those with, whose
// sizes have a fixed ratio.
#include <fmt/format.h>

#include <algorithm>

#include "budget/engines.hpp"

namespace swa::engines {
namespace {

// Architectures whose local layers get a pool of their own; the others keep every token.
bool has_two_pools(const Stage& stage) {
  const std::string& name = stage.model.architecture;
  return name.starts_with("llama4") || name == "gpt_oss" || name.starts_with("mimo_v2") ||
         name == "mimo2" || name == "step35" || name == "step3p5" || name == "step3p7" ||
         name.starts_with("gemma4") || name == "laguna";
}

Allocation allocate_sglang(const Stage& stage, const Demand& demand, const Settings& settings) {
  refuse_compressed(stage, "SGLang");
  refuse_shared(stage, "SGLang");
  const Index page = settings.count("page-size", 1);
  const double ratio = settings.real("swa-full-tokens-ratio", 0.8);
  const bool two_pools = has_two_pools(stage) && !settings.flag("disable-hybrid-swa-memory");
  const Index full = times(round_up(demand.context, page), demand.batch);
  const Index scaled = static_cast<Index>(static_cast<long double>(full) * ratio);
  const Index local = two_pools ? scaled / page * page : full;
  Allocation result;
  Index widest = 0;
  for (const auto& [layer, count] : stage.layers) {
    if (layer.keeps != Keeps::own) continue;
    const Index bytes = times(row_bytes(layer, demand), count);
    const Index needed = times(tokens_held(layer, demand.context), demand.batch);
    if (layer.is_local()) widest = larger(widest, layer.window.width);
    if (layer.is_local() && two_pools) {
      const Index held = smaller(needed, local);
      result.add_rows(layer, bytes, held, held, held);
      result.add(true, Share::idle, times(local - held, bytes));
    } else {
      result.add_rows(layer, bytes, needed, times(demand.context, demand.batch), full);
    }
  }
  if (widest == 0) return result;
  if (!two_pools) {
    result.assumptions.push_back("SGLang keeps all tokens of this architecture's local layers");
    return result;
  }
  result.assumptions.push_back(
      fmt::format("a pool of {} slots for global layers and of {} for local ones", full, local));
  // What the scheduler reserves for one request before it may run, and what all keep afterwards.
  const Index chunk = settings.count("chunked-prefill-size", 8192);
  const Index window = smaller(demand.context, widest);
  const Index one = plus(larger(smaller(demand.context, chunk), window), page);
  const Index least = larger(one, times(window, demand.batch));
  if (local < least) {
    result.shortfall =
        fmt::format("the local pool has {} of the {} slots that are needed", local, least);
  }
  return result;
}

}  // namespace

KvLayout sglang() {
  using Kind = Setting::Kind;
  return {"sglang",
          "SGLang: two pools of token slots with a fixed ratio",
          "SGLang of 2026-07-13, as antgroup/sglang carries it (9fec359a60)",
          {{"page-size", Kind::positive, "1", "tokens of a page"},
           {"swa-full-tokens-ratio", Kind::real, "0.8", "slots of the local pool per global one"},
           {"chunked-prefill-size", Kind::positive, "8192", "tokens of a prefill chunk"},
           {"disable-hybrid-swa-memory", Kind::flag, "off", "all layers keep all tokens"}},
          {"fp32", "bf16", "fp16", "fp8_e4m3", "fp8_e5m2"},
          allocate_sglang};
}

}  // namespace swa::engines
