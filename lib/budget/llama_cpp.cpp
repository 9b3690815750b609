// llama.cpp: one cache for the layers without a window and one for those with, whose cells belong
// to the slots of the server or are shared by them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "budget/engines.hpp"

namespace swa::engines {
namespace {

constexpr Index kPad = 256;  // cells

// Architectures whose window it implements, by model_type or by the name in GGUF files where that
// stands for several.
bool has_window(const Stage& stage) {
  constexpr std::array<std::string_view, 16> kNames{
      "gemma2", "cohere2", "cohere2_moe", "olmo2",        "olmo3",  "afmoe",
      "plamo3", "gpt_oss", "exaone_moe",  "smallthinker", "laguna", "muse_glimmer",
      "mellum", "mimo2",   "step35",      "step3p5"};
  constexpr std::array<std::string_view, 5> kFamilies{"llama4", "gemma3", "gemma4", "mimo_v2",
                                                      "lfm2"};
  const std::string& name = stage.model.architecture;
  if (name == "exaone4") return stage.model.layers.size() == 64;
  const auto begins = [&](std::string_view family) { return name.starts_with(family); };
  return std::any_of(kFamilies.begin(), kFamilies.end(), begins) ||
         std::count(kNames.begin(), kNames.end(), name) == 1;
}

// Architectures that it runs without their window: phi3's is switched off (its issue 13676), and
// Mistral's files have none.
bool has_none(const Stage& stage) {
  const std::string& name = stage.model.architecture;
  return name == "phi3" || name == "mistral" || name == "starcoder2" || name == "exaone4";
}

Allocation allocate_llama_cpp(const Stage& stage, const Demand& demand, const Settings& settings) {
  refuse_compressed(stage, "llama.cpp");
  const Index ubatch = settings.count("ubatch-size", 512);
  const Index slots = settings.count("parallel", demand.batch);
  const bool unified = settings.flag("kv-unified");
  const bool windows = has_window(stage) && !settings.flag("swa-full");
  if (slots < demand.batch) {
    throw NotServed(
        fmt::format("llama.cpp:parallel={} has fewer slots than there are sequences: {}", slots,
                    demand.batch),
        "give a smaller --batch or more slots");
  }
  // Each slot holds the context, or all share as many cells as the sequences have tokens.
  const Index all = round_up(times(demand.context, unified ? demand.batch : slots), kPad);
  const Index cells = unified ? all : round_up(all / slots, kPad);
  const Index streams = unified ? 1 : slots;
  const Index asked_slots = unified ? slots : 1;
  Allocation result;
  bool any_local = false;
  each_kind(stage, demand, [&](const Layer& layer, Index bytes, Index needed) {
    Index wanted = times(demand.context, unified ? demand.batch : slots), taken = cells;
    any_local = any_local || layer.is_local();
    if (layer.is_local() && windows) {
      const Index asked = plus(times(*stated_width(layer.window), asked_slots), ubatch);
      wanted = larger(needed, times(smaller(cells, asked), streams));
      taken = round_up(smaller(cells, asked), kPad);
    }
    result.add_rows(layer, bytes, needed, wanted, times(taken, streams));
  });
  result.assumptions.push_back(fmt::format("{} {}{}, with flash attention", slots,
                                           slots == 1 ? "slot" : "slots",
                                           unified ? " of one unified cache" : ""));
  if (any_local && !windows) {
    result.assumptions.push_back(
        has_none(stage) || settings.flag("swa-full")
            ? "llama.cpp keeps all tokens of this model's local layers"
            : "llama.cpp is not known to use this architecture's window: if it runs there, all "
              "tokens are kept");
  }
  return result;
}

}  // namespace

KvLayout llama_cpp() {
  using Kind = Setting::Kind;
  return {.name = "llama.cpp",
          .summary = "llama.cpp: two caches of cells, allocated for all slots at the start",
          .source =
              "llama.cpp of 2026-05-04, as TheTom/llama-cpp-turboquant carries it "
              "(69d8e4be47); architectures: its source of August 2026",
          .settings = {{"ubatch-size", Kind::positive, "512", "tokens that are computed at once"},
                       {"parallel", Kind::positive, "batch", "slots of the server, of ctx each"},
                       {"kv-unified", Kind::flag, "off", "the slots share ctx x batch cells"},
                       {"swa-full", Kind::flag, "off", "all layers keep all tokens"}},
          .types = {"fp32", "bf16", "fp16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl"},
          .allocate = allocate_llama_cpp};
}

}  // namespace swa::engines
