// How each family of architectures says which of its layers sees what, where layer_types does not.
#pragma once

#include "model/config/architectures.hpp"

namespace swa {

// The plan that layer_types states, or a list of windows; nothing without one. A list that the
// architecture has words of its own for is left to its rule.
std::optional<LayerPlan> listed_plan(ConfigKeys& keys, const Architecture& architecture,
                                     Index layers);
// One layer for each entry of a list of windows, which may be null, 0 or negative: no window.
LayerPlan plan_of_windows(ConfigKeys& keys, std::string_view key, std::vector<Index> windows,
                          Index layers);
// Says how many layers of the plan that the key states see all keys.
void say_plan(const ConfigKeys& keys, const LayerPlan& plan, std::string_view key);
// What sliding_window_pattern states, under either of its names: a number p, where the last of each
// p layers sees all, or letters L and G. Nothing where it is missing.
std::optional<std::vector<Sees>> pattern_of_key(ConfigKeys& keys, Index layers);

// Patterns and switches: rules.cpp.
LayerPlan window_everywhere(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan window_nowhere(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan mixtral(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan last_of_each(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan gemma4(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan afmoe(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan first_of_each(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan laguna(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan modernbert(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan counted_from_the_end(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan qwen(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan qwen2_moe(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan qwen3_moe(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan from_max_window_layers(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan layer_types_only(ConfigKeys& keys, const Architecture& architecture, Index layers);

// Architectures that are not known: unknown.cpp.
LayerPlan only_what_is_plain(ConfigKeys& keys, const Architecture& architecture, Index layers);
// Refuses what may change the caches of an architecture that is not known.
void check_unknown(ConfigKeys& keys);

// Lists of layers: lists.cpp.
LayerPlan longformer(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan smollm3(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan exaone_moe(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan llama4(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan smallthinker(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan mimo(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan inkling(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan baichuan_m1(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan hymba(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan gpt_neo(ConfigKeys& keys, const Architecture& architecture, Index layers);

// Layers without a cache, and compressed rows: states.cpp.
LayerPlan recurrent_gemma(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan plamo2(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan full_attention_interval(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan jamba(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan nemotron_h(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan kimi_linear(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan lfm2(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan minimax(ConfigKeys& keys, const Architecture& architecture, Index layers);
LayerPlan deepseek_v4(ConfigKeys& keys, const Architecture& architecture, Index layers);

}  // namespace swa
