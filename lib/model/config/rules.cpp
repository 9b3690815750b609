#include "model/config/rules.hpp"

#include <fmt/format.h>

namespace swa {
namespace {

// The period that the key states where one is given, or else the architecture's own.
Index period(ConfigKeys& keys, const Architecture& architecture, std::string_view meaning,
             std::string_view key = {}) {
  const auto stated = key.empty() ? std::nullopt : keys.count(key, 1, kMaxIndex);
  const Index p = stated.value_or(architecture.period);
  keys.origin("layers that see all keys", fmt::format("{} {}", meaning, p),
              stated ? keys.shown(key) : keys.class_default());
  return p;
}

// The direction of the pattern is the architecture's, and nobody has said that a key changes it.
void refuse_pattern(ConfigKeys& keys) {
  for (const char* key : {"sliding_window_pattern", "_sliding_window_pattern"}) {
    if (!keys.has(key)) continue;
    keys.fail(key,
              fmt::format("= {} is not known for {}", keys.shown_value(key), keys.architecture()),
              "add layer_types");
  }
}

std::vector<Sees> from_layer(Index layers, Index first) {
  std::vector<Sees> sees;
  for (Index i = 0; i < layers; ++i) sees.push_back(i >= first ? Sees::window : Sees::all);
  return sees;
}

// Whether use_sliding_window turns the window on; without the key it is off.
bool is_switched_on(ConfigKeys& keys) {
  const std::optional<bool> on = keys.flag("use_sliding_window");
  if (on == true) return true;
  const std::string reason =
      on ? "use_sliding_window is false" : "use_sliding_window is missing, and false by default";
  for (const char* key : {"sliding_window", "max_window_layers"}) keys.ignore(key, reason);
  keys.origin("layers that see all keys", "all", on ? keys.shown("use_sliding_window") : reason);
  return false;
}

Index max_window_layers(ConfigKeys& keys, const Architecture& architecture) {
  const auto stated = keys.count("max_window_layers", 0, kMaxIndex);
  const Index number = stated.value_or(architecture.period);
  keys.origin("max_window_layers", number, keys.source_of("max_window_layers"));
  return number;
}

void warn_of_dispute(ConfigKeys& keys, Index first, Index layers) {
  keys.warn(fmt::format(
      "max_window_layers = {0} is read as transformers does: of {1} layers those from {0} on have "
      "the window, {2}; the publisher's staff says that those before {0} have it",
      first, layers, first < layers ? fmt::format("{} of them", layers - first) : "so none"));
}

}  // namespace

LayerPlan window_everywhere(ConfigKeys& keys, const Architecture&, Index layers) {
  keys.ignore("use_sliding_window", "the class of this architecture never reads it");
  keys.ignore("max_window_layers", "the class of this architecture never reads it");
  keys.origin("layers that see all keys", "none where there is a window", keys.class_default());
  return {uniform(layers, Sees::window)};
}

LayerPlan window_nowhere(ConfigKeys& keys, const Architecture&, Index layers) {
  keys.ignore("sliding_window", fmt::format("the class of {} never reads it: every layer sees all "
                                            "keys",
                                            keys.architecture()));
  keys.origin("layers that see all keys", "all", keys.class_default());
  return {uniform(layers, Sees::all)};
}

LayerPlan mixtral(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  if (keys.has("sliding_window")) {
    keys.warn(
        "the publisher of mixtral has set sliding_window to null, since the model was not trained "
        "with a window; a runtime that obeys an early copy of the config applies one");
    keys.ignore("sliding_window", "the publisher has set it to null: trained without a window");
  }
  return window_nowhere(keys, architecture, layers);
}

LayerPlan last_of_each(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  std::optional<std::vector<Sees>> stated = pattern_of_key(keys, layers);
  if (!stated) {
    stated = all_last_of_each(layers, period(keys, architecture, "the last of each"));
  }
  return {*stated};
}

LayerPlan gemma4(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  LayerPlan plan = last_of_each(keys, architecture, layers);
  plan.sees.back() = Sees::all;
  return plan;
}

LayerPlan afmoe(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  const Index p = period(keys, architecture, "the last of each", "global_attn_every_n_layers");
  return {all_last_of_each(layers, p)};
}

LayerPlan first_of_each(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  refuse_pattern(keys);
  const Index p = period(keys, architecture, "the first of each");
  return {all_first_of_each(layers, p)};
}

LayerPlan laguna(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  keys.warn(
      "layer_types is missing: the plan is that of the published models, and by the default of "
      "transformers every layer of laguna sees all keys");
  return first_of_each(keys, architecture, layers);
}

LayerPlan modernbert(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  const Index p = period(keys, architecture, "the first of each", "global_attn_every_n_layers");
  return {all_first_of_each(layers, p)};
}

LayerPlan counted_from_the_end(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  refuse_pattern(keys);
  const Index p = period(keys, architecture, "the last layer, and before it each");
  return {all_each_from_the_end(layers, p)};
}

LayerPlan qwen(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  if (!is_switched_on(keys)) return {uniform(layers, Sees::all)};
  const Index first = max_window_layers(keys, architecture);
  warn_of_dispute(keys, first, layers);
  return {from_layer(layers, first)};
}

LayerPlan qwen2_moe(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  if (!is_switched_on(keys)) return {uniform(layers, Sees::all)};
  const Index end = max_window_layers(keys, architecture);
  keys.warn(fmt::format(
      "max_window_layers = {0} is read as transformers does for qwen2_moe: even layers before {0} "
      "have the window; for the other Qwen models it reads the key the other way round",
      end));
  std::vector<Sees> sees;
  for (Index i = 0; i < layers; ++i) {
    sees.push_back(i % 2 == 0 && i < end ? Sees::window : Sees::all);
  }
  return {sees};
}

LayerPlan qwen3_moe(ConfigKeys& keys, const Architecture&, Index layers) {
  if (is_switched_on(keys)) {
    keys.fail("use_sliding_window",
              "is true, and which layers of qwen3_moe then have the window "
              "is not established",
              "add layer_types");
  }
  return {uniform(layers, Sees::all)};
}

LayerPlan from_max_window_layers(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  return {from_layer(layers, max_window_layers(keys, architecture))};
}

LayerPlan layer_types_only(ConfigKeys& keys, const Architecture&, Index) {
  keys.fail("layer_types", fmt::format("is missing, and for {} nothing else says what a layer sees",
                                       keys.architecture()));
}

}  // namespace swa
