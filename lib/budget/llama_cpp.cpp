// llama.cpp: one cache for the layers without a window and one for those with, whose cells are
// divided among the slots of the server or shared by them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "budget/engines.hpp"

namespace swa::engines {
namespace {

constexpr Index kPad = 256;  // cells

// Architectures whose window it implements, by model_type or by the name in GGUF files where that
// stands for several; phi3's is switched off there (its issue 13676).
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

Allocation allocate_llama_cpp(const Stage& stage, const Demand& demand, const Settings& settings) {
  refuse_compressed(stage, "llama.cpp");
  const Index ubatch = settings.count("ubatch-size", 512);
  const Index slots = settings.count("parallel", demand.batch);
  const bool unified = settings.flag("kv-unified");
  const bool windows = has_window(stage) && !settings.flag("swa-full");
  const Index all = round_up(times(demand.context, demand.batch), kPad);
  const Index cells = unified ? all : round_up(larger(1, all / slots), kPad);
  const Index streams = unified ? 1 : slots;
  Allocation result;
  bool any_local = false;
  for (const auto& [layer, count] : stage.layers) {
    if (layer.keeps != Keeps::own) continue;
    const Index needed = times(tokens_held(layer, demand.context), demand.batch);
    Index wanted = times(demand.context, demand.batch), taken = cells;
    if (layer.is_local()) {
      any_local = true;
      if (windows) {
        const Index asked = plus(times(layer.window.width, unified ? slots : 1), ubatch);
        wanted = times(smaller(cells, asked), streams);
        taken = round_up(smaller(cells, asked), kPad);
      }
    }
    result.add_rows(layer, times(row_bytes(layer, demand), count), needed, wanted,
                    times(taken, streams));
  }
  result.assumptions.push_back(fmt::format("{} slots{}, with flash attention", slots,
                                           unified ? " of one unified cache" : ""));
  if (any_local && !windows) {
    result.assumptions.push_back("llama.cpp keeps all tokens of this model's local layers");
  }
  if (cells < demand.context || (!unified && slots < demand.batch)) {
    result.shortfall = fmt::format("{} slots of {} tokens each do not hold {} sequences of {}",
                                   slots, cells, demand.batch, demand.context);
  }
  return result;
}

}  // namespace

KvLayout llama_cpp() {
  using Kind = Setting::Kind;
  return {
      "llama.cpp",
      "llama.cpp: two caches of cells, allocated for all slots at the start",
      "llama.cpp of 2026-05-04, as TheTom/llama-cpp-turboquant carries it (69d8e4be47)",
      {{"ubatch-size", Kind::positive, "512", "tokens that are computed at once"},
       {"parallel", Kind::positive, "batch", "slots, among which ctx x batch cells are divided"},
       {"kv-unified", Kind::flag, "off", "the slots share their cells"},
       {"swa-full", Kind::flag, "off", "all layers keep all tokens"}},
      {"fp32", "bf16", "fp16", "q8_0", "q4_0"},
      allocate_llama_cpp};
}

}  // namespace swa::engines
