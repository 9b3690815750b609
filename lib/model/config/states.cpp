// Rules of architectures with layers that have no cache, or that compress what left the window.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/config/rules.hpp"
#include "tensor/source.hpp"

namespace swa {
namespace {

constexpr std::string_view kWhat = "layers with attention";

Sees seen_by_block(const ConfigKeys& keys, std::string_view key, const std::string& block) {
  if (block == "attention") return Sees::window;
  if (block == "recurrent") return Sees::nothing;
  keys.fail(key, fmt::format("has the entry {}, not 'recurrent' or 'attention'", quote(block)));
}

// From the number of tokens that one row stands for, 0 for a layer with its window alone.
LayerPlan compressed(std::vector<Index> ratios) {
  LayerPlan plan;
  plan.sees.assign(ratios.size(), Sees::window);
  plan.compress = std::move(ratios);
  return plan;
}

}  // namespace

LayerPlan recurrent_gemma(ConfigKeys& keys, const Architecture&, Index layers) {
  const std::string_view key = keys.has("block_types") ? "block_types" : "_block_types";
  keys.ignore("conv1d_width", "the state of the convolution does not grow with the context");
  if (!keys.has(key)) {
    keys.origin(std::string(kWhat), "the last of each 3, with the window", keys.class_default());
    return {repeated(layers, {Sees::nothing, Sees::nothing, Sees::window})};
  }
  std::vector<Sees> pattern;
  const std::vector<std::string> blocks = *keys.words(key);
  for (const std::string& block : blocks) {
    pattern.push_back(seen_by_block(keys, key, block));
  }
  if (pattern.empty()) keys.fail(key, "is empty");
  keys.origin(std::string(kWhat), fmt::format("{}, repeated", keys.shown_value(key)),
              keys.shown(key));
  return {repeated(layers, pattern)};
}

LayerPlan plamo2(ConfigKeys& keys, const Architecture&, Index layers) {
  if (keys.has("full_attention_idx") && !keys.peek("full_attention_idx")->empty()) {
    keys.fail("full_attention_idx",
              "is not empty, and what it means for plamo2's windows is not "
              "established");
  }
  if (keys.flag("mamba_enabled") == false) {
    keys.origin(std::string(kWhat), "all, with the window", keys.shown("mamba_enabled"));
    return {uniform(layers, Sees::window)};
  }
  // The published models alternate, and the order of longer steps is not established.
  const auto step = keys.count("mamba_step", 1, kMaxIndex);
  if (step != 2) keys.fail("mamba_step", "is not 2, and no other step is established");
  keys.origin(std::string(kWhat), "the last of each 2, with the window", keys.shown("mamba_step"));
  return {repeated(layers, {Sees::nothing, Sees::window})};
}

LayerPlan full_attention_interval(ConfigKeys& keys, const Architecture& architecture,
                                  Index layers) {
  const auto stated = keys.count("full_attention_interval", 1, kMaxIndex);
  const Index p = stated.value_or(architecture.period);
  keys.origin(std::string(kWhat), fmt::format("the last of each {}", p),
              keys.source_of("full_attention_interval"));
  return {all_last_of_each(layers, p, Sees::nothing)};
}

LayerPlan jamba(ConfigKeys& keys, const Architecture&, Index layers) {
  const auto period = keys.count("attn_layer_period", 1, kMaxIndex);
  const auto offset = keys.count("attn_layer_offset", 0, kMaxIndex);
  if (!period) keys.fail("attn_layer_period", "is missing");
  if (!offset) keys.fail("attn_layer_offset", "is missing");
  if (*offset >= *period) {
    keys.fail("attn_layer_offset", fmt::format("= {} is not below '{}' = {}", *offset,
                                               keys.shown("attn_layer_period"), *period));
  }
  keys.origin(
      std::string(kWhat), fmt::format("{} + a multiple of {}", *offset, *period),
      fmt::format("{} and {}", keys.shown("attn_layer_offset"), keys.shown("attn_layer_period")));
  LayerPlan plan;
  for (Index i = 0; i < layers; ++i) {
    plan.sees.push_back(i % *period == *offset ? Sees::all : Sees::nothing);
  }
  return plan;
}

LayerPlan nemotron_h(ConfigKeys& keys, const Architecture&, Index layers) {
  constexpr std::string_view kKey = "hybrid_override_pattern";
  const auto pattern = keys.text(kKey);
  if (!pattern) keys.fail(kKey, "is missing, and 'layer_types' too");
  if (pattern->size() != static_cast<std::size_t>(layers)) {
    keys.fail(kKey, fmt::format("has {} letters for {} layers", pattern->size(), layers));
  }
  if (const auto other = pattern->find_first_not_of("ME*-"); other != std::string::npos) {
    keys.fail(kKey,
              fmt::format("has {}, which is not M, E, * or -", quote(pattern->substr(other, 1))));
  }
  keys.origin(std::string(kWhat), "* of the pattern", keys.shown(kKey));
  LayerPlan plan;
  for (const char letter : *pattern) {
    plan.sees.push_back(letter == '*' ? Sees::all : Sees::nothing);
  }
  return plan;
}

LayerPlan kimi_linear(ConfigKeys& keys, const Architecture&, Index layers) {
  auto linear = keys.object("linear_attn_config");
  if (!linear) keys.fail("linear_attn_config", "is missing, and 'layer_types' too");
  std::optional<std::vector<Index>> full = linear->counts("full_attn_layers", 0, kMaxIndex);
  if (!full) linear->fail("full_attn_layers", "is missing");
  linear->check_layers("full_attn_layers", *full, layers, 1);
  if (const auto others = linear->counts("kda_layers", 0, kMaxIndex)) {
    linear->check_layers("kda_layers", *others, layers, 1);
    std::vector<Index> both = *full;
    both.insert(both.end(), others->begin(), others->end());
    std::sort(both.begin(), both.end());
    const bool is_each_once = static_cast<Index>(both.size()) == layers &&
                              std::adjacent_find(both.begin(), both.end()) == both.end();
    if (!is_each_once) {
      linear->fail("kda_layers", fmt::format("and '{}' do not name each of the {} layers once",
                                             linear->shown("full_attn_layers"), layers));
    }
  }
  keys.origin(std::string(kWhat), linear->shown_value("full_attn_layers") + ", counted from 1",
              linear->shown("full_attn_layers"));
  for (Index& number : *full) --number;
  return {listed_layers(layers, *full, Sees::all, Sees::nothing)};
}

LayerPlan lfm2(ConfigKeys& keys, const Architecture&, Index layers) {
  const auto numbers = keys.counts("full_attn_idxs", 0, kMaxIndex);
  if (!numbers) keys.fail("full_attn_idxs", "is missing, and 'layer_types' too");
  keys.check_layers("full_attn_idxs", *numbers, layers);
  keys.origin(std::string(kWhat), keys.shown_value("full_attn_idxs"), keys.shown("full_attn_idxs"));
  return {listed_layers(layers, *numbers, Sees::all, Sees::nothing)};
}

LayerPlan minimax(ConfigKeys& keys, const Architecture&, Index layers) {
  auto types = keys.counts("attn_type_list", 0, 1);
  if (!types) keys.fail("attn_type_list", "is missing, and 'layer_types' too");
  keys.one_each("attn_type_list", *types, layers);
  keys.origin(std::string(kWhat), "those with 1", keys.shown("attn_type_list"));
  LayerPlan plan;
  for (const Index type : *types) plan.sees.push_back(type == 1 ? Sees::all : Sees::nothing);
  return plan;
}

LayerPlan deepseek_v4(ConfigKeys& keys, const Architecture&, Index layers) {
  if (!keys.has("layer_types")) {
    auto ratios = keys.counts("compress_ratios", 0, kMaxIndex);
    if (!ratios) keys.fail("compress_ratios", "is missing, and 'layer_types' too");
    keys.one_each("compress_ratios", *ratios, layers);
    keys.origin("tokens to one compressed row", keys.shown_value("compress_ratios"),
                keys.shown("compress_ratios"));
    return compressed(std::move(*ratios));
  }
  auto rates = keys.object("compress_rates");
  const auto rate = [&](std::string_view type, Index usual) {
    return rates ? rates->count(type, 1, kMaxIndex).value_or(usual) : usual;
  };
  const std::array<std::pair<std::string_view, Index>, 3> known = {{
      {"sliding_attention", 0},
      {"compressed_sparse_attention", rate("compressed_sparse_attention", 4)},
      {"heavily_compressed_attention", rate("heavily_compressed_attention", 128)},
  }};
  std::vector<std::string> types = *keys.words("layer_types");
  keys.one_each("layer_types", types, layers);
  std::vector<Index> ratios;
  for (const std::string& type : types) {
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&](const auto& pair) { return pair.first == type; });
    if (found == known.end()) {
      keys.fail("layer_types", fmt::format("has the entry {}, which is not known for {}",
                                           quote(type), keys.architecture()));
    }
    ratios.push_back(found->second);
  }
  keys.origin("tokens to one compressed row", keys.shown_value("layer_types"),
              keys.shown("layer_types"));
  return compressed(std::move(ratios));
}

}  // namespace swa
