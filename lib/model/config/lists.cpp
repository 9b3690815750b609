// Rules of architectures that list layers by number, or say something for each.
#include <fmt/format.h>

#include <algorithm>

#include "model/config/rules.hpp"
#include "tensor/source.hpp"

namespace swa {
namespace {

// A list with 1 where a layer has the window and 0 where it sees all keys.
LayerPlan flags_plan(ConfigKeys& keys, std::string_view key, Sees at_1, Sees at_0, Index layers) {
  std::vector<Index> flags = keys.counts(key, 0, 1).value();
  keys.one_each(key, flags, layers);
  LayerPlan plan;
  for (const Index flag : flags) plan.sees.push_back(flag == 1 ? at_1 : at_0);
  say_plan(keys, plan, key);
  return plan;
}

LayerPlan numbers_plan(ConfigKeys& keys, std::string_view key, Sees listed, Sees others,
                       Index layers) {
  const auto numbers = keys.counts(key, 0, kMaxIndex);
  if (!numbers) {
    keys.fail(key, fmt::format("is missing, and for {} nothing else says what a layer sees",
                               keys.architecture()));
  }
  keys.check_layers(key, *numbers, layers);
  const LayerPlan plan{listed_layers(layers, *numbers, listed, others)};
  say_plan(keys, plan, key);
  return plan;
}

// [[["global", "local"], 6]]: each pattern as often as the number behind it.
std::vector<std::string> expand(ConfigKeys& keys, std::string_view key, Index layers) {
  std::vector<std::string> words;
  const nlohmann::json& pairs = *keys.value(key);
  const auto refuse = [&] {
    keys.fail(key,
              "is not a list of pairs, each a list of 'global' and 'local' and how often it "
              "is repeated");
  };
  if (!pairs.is_array()) refuse();
  for (const nlohmann::json& pair : pairs) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_array() ||
        !pair[1].is_number_unsigned()) {
      refuse();
    }
    const auto limit = static_cast<std::uint64_t>(layers);
    const std::uint64_t times = std::min(pair[1].get<std::uint64_t>(), limit + 1);
    for (std::uint64_t i = 0; i < times && words.size() <= limit; ++i) {
      for (const nlohmann::json& word : pair[0]) {
        if (!word.is_string()) refuse();
        words.push_back(word.get<std::string>());
      }
    }
  }
  return words;
}

}  // namespace

LayerPlan longformer(ConfigKeys& keys, const Architecture&, Index layers) {
  constexpr std::string_view kKey = "attention_window";
  if (keys.has(kKey) && keys.peek(kKey)->is_array()) {
    return plan_of_windows(keys, kKey, *keys.widths(kKey), layers);
  }
  keys.origin("layers that see all keys", "none where there is a window", keys.class_default());
  return {uniform(layers, Sees::window)};
}

LayerPlan smollm3(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  if (keys.flag("use_sliding_window") != true) {
    keys.ignore("sliding_window", "use_sliding_window is not true");
    return window_nowhere(keys, architecture, layers);
  }
  keys.warn(
      "with use_sliding_window transformers gives the window to the layers without rotary "
      "embedding alone");
  if (keys.has("no_rope_layers")) {
    return flags_plan(keys, "no_rope_layers", Sees::all, Sees::window, layers);
  }
  constexpr std::string_view kInterval = "no_rope_layer_interval";
  const Index p = keys.count(kInterval, 1, kMaxIndex).value_or(architecture.period);
  keys.origin("layers that see all keys", fmt::format("all but the last of each {}", p),
              keys.source_of(kInterval));
  LayerPlan plan;
  for (Index i = 0; i < layers; ++i) {
    plan.sees.push_back(i % p == p - 1 ? Sees::window : Sees::all);
  }
  return plan;
}

LayerPlan exaone_moe(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  if (keys.has("sliding_windows")) {
    return plan_of_windows(keys, "sliding_windows", *keys.widths("sliding_windows"), layers);
  }
  if (auto sees = pattern_of_key(keys, layers)) return {*sees};
  return layer_types_only(keys, architecture, layers);
}

LayerPlan llama4(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  constexpr std::string_view kFlags = "no_rope_layers", kInterval = "no_rope_layer_interval";
  const bool is_empty =
      keys.has(kFlags) && keys.peek(kFlags)->is_array() && keys.value(kFlags)->empty();
  // 1 means rotary embedding, and with it chunks.
  if (keys.has(kFlags) && !is_empty) {
    return flags_plan(keys, kFlags, Sees::chunk, Sees::all, layers);
  }
  const auto stated = keys.count(kInterval, 1, kMaxIndex);
  const Index p = stated.value_or(architecture.period);
  const bool is_default = is_empty && !stated;
  keys.origin("layers that see all keys", fmt::format("the last of each {}", p),
              is_default ? fmt::format("{} is empty: every {}th layer sees all, by default",
                                       keys.shown(kFlags), p)
                         : keys.source_of(kInterval));
  return {all_last_of_each(layers, p, Sees::chunk)};
}

LayerPlan smallthinker(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  if (keys.has("sliding_window_layout")) {
    return flags_plan(keys, "sliding_window_layout", Sees::window, Sees::all, layers);
  }
  return first_of_each(keys, architecture, layers);
}

LayerPlan mimo(ConfigKeys& keys, const Architecture&, Index layers) {
  keys.ignore("attention_chunk_size", "this family slides, and carries the key without a meaning");
  if (!keys.has("hybrid_layer_pattern")) {
    keys.fail("hybrid_layer_pattern", fmt::format("is missing, and for {} nothing else says what a "
                                                  "layer sees",
                                                  keys.architecture()));
  }
  return flags_plan(keys, "hybrid_layer_pattern", Sees::window, Sees::all, layers);
}

LayerPlan inkling(ConfigKeys& keys, const Architecture&, Index layers) {
  if (!keys.has("layer_types")) {
    return numbers_plan(keys, "local_layer_ids", Sees::window, Sees::all, layers);
  }
  std::vector<std::string> types = *keys.words("layer_types");
  keys.one_each("layer_types", types, layers);
  LayerPlan plan;
  for (const std::string& type : types) {
    const bool slides = type == "hybrid_sliding" || type == "sliding_attention";
    if (!slides && type != "hybrid" && type != "full_attention") {
      keys.fail("layer_types", fmt::format("has the entry {}, which is not known for {}",
                                           quote(type), keys.architecture()));
    }
    plan.sees.push_back(slides ? Sees::window : Sees::all);
  }
  say_plan(keys, plan, "layer_types");
  return plan;
}

LayerPlan baichuan_m1(ConfigKeys& keys, const Architecture&, Index layers) {
  return numbers_plan(keys, "sliding_window_layers", Sees::window, Sees::all, layers);
}

LayerPlan hymba(ConfigKeys& keys, const Architecture&, Index layers) {
  if (keys.count("num_memory_tokens", 0, kMaxIndex).value_or(0) > 0) {
    keys.warn(fmt::format("the {} memory tokens that each sequence starts with are not counted",
                          keys.shown_value("num_memory_tokens")));
  }
  return numbers_plan(keys, "global_attn_idx", Sees::all, Sees::window, layers);
}

LayerPlan gpt_neo(ConfigKeys& keys, const Architecture&, Index layers) {
  const bool has_types = keys.has("attention_types"), has_layers = keys.has("attention_layers");
  const std::string_view key = has_types ? "attention_types" : "attention_layers";
  if (!has_types && !has_layers) {
    keys.fail(key, "is missing, and 'attention_types' too");
  }
  std::vector<std::string> words =
      has_types ? expand(keys, key, layers) : *keys.words("attention_layers");
  if (words.size() != static_cast<std::size_t>(layers)) {
    keys.fail(
        key,
        fmt::format("names {}{} layers, and there are {}", words.size(),
                    has_types && words.size() > static_cast<std::size_t>(layers) ? " or more" : "",
                    layers));
  }
  if (has_types && has_layers && *keys.words("attention_layers") != words) {
    keys.fail("attention_layers", "contradicts 'attention_types'", "keep the one that holds");
  }
  LayerPlan plan;
  for (const std::string& word : words) {
    if (word != "global" && word != "local") {
      keys.fail(key, fmt::format("has the entry {}, not 'global' or 'local'", quote(word)));
    }
    plan.sees.push_back(word == "local" ? Sees::window : Sees::all);
  }
  say_plan(keys, plan, key);
  return plan;
}

}  // namespace swa
