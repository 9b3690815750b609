#include "model/gguf/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace swa {
namespace {

constexpr std::string_view kHeads = "attention.head_count", kKvHeads = "attention.head_count_kv";

// "8", or "5 x 2, 25 x 8".
std::string counted(const std::vector<Index>& each) {
  constexpr std::size_t kFew = 4;
  std::map<Index, Index> counts;
  for (const Index value : each) ++counts[value];
  if (counts.size() == 1) return fmt::format("{}", counts.begin()->first);
  if (counts.size() > kFew) return fmt::format("{} different numbers", counts.size());
  std::string text;
  for (const auto& [value, layers] : counts) {
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", layers, value);
  }
  return text;
}

Index count_layers(GgufKeys& keys) {
  constexpr std::string_view kBlocks = "block_count", kNext = "nextn_predict_layers";
  const Index blocks = keys.required(kBlocks, 1, kMaxModelLayers);
  const Index next = keys.count(kNext, 0, blocks - 1).value_or(0);
  if (next == 0) {
    keys.say("layers", fmt::format("{}", blocks), kBlocks);
  } else {
    keys.origin("layers", blocks - next,
                fmt::format("{} - {}", keys.shown(kBlocks), keys.source(kNext)));
  }
  return blocks - next;
}

// A layer without heads for keys and values has no attention.
void read_heads(GgufKeys& keys, const GgufArchitecture& rule, std::vector<Layer>& layers) {
  const std::string_view key = keys.has(kKvHeads) ? kKvHeads : kHeads;
  const auto heads = keys.each(key, static_cast<Index>(layers.size()), 0, kMaxModelWidth);
  if (!heads) keys.fail(kHeads, "is missing");
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers[i].kv_heads = (*heads)[i];
    if ((*heads)[i] == 0) layers[i].keeps = Keeps::none;
  }
  if (!rule.latent) keys.say("kv heads", counted(*heads), key);
}

void read_states(GgufKeys& keys, const GgufArchitecture& rule, std::vector<Layer>& layers) {
  constexpr std::string_view kStates = "attention.recurrent_layers",
                             kInterval = "full_attention_interval";
  if (rule.interval == 0) return;
  if (const auto states = keys.each(kStates, static_cast<Index>(layers.size()), 0, 1)) {
    const auto without = std::count(states->begin(), states->end(), 1);
    keys.say("layers with attention",
             fmt::format("{} of {}", std::ssize(*states) - without, states->size()), kStates);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      if ((*states)[i] == 1) layers[i].keeps = Keeps::none;
    }
    return;
  }
  const auto stated = keys.count(kInterval, 1, kMaxModelLayers);
  const Index interval = stated.value_or(rule.interval);
  keys.origin("layers with attention", fmt::format("the last of each {}", interval),
              stated ? keys.source(kInterval) : default_of(rule));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const bool attends = (static_cast<Index>(i) + 1) % interval == 0;
    if (!attends) layers[i].keeps = Keeps::none;
  }
}

// Files since 2025 state the row as key_length; in older ones that is the head of a key.
Index latent_row(GgufKeys& keys) {
  constexpr std::string_view kRow = "attention.key_length", kRank = "attention.kv_lora_rank",
                             kRotated = "rope.dimension_count", kQuantity = "latent row";
  if (keys.has("attention.key_length_mla")) {
    const Index row = keys.required(kRow, 1, kMaxModelWidth);
    keys.say(std::string(kQuantity), fmt::format("{}", row), kRow);
    keys.ignore(kRank, "the latent row is stated as a whole");
    return row;
  }
  const Index row =
      keys.required(kRank, 1, kMaxModelWidth) + keys.required(kRotated, 1, kMaxModelWidth);
  keys.origin(std::string(kQuantity), row,
              fmt::format("{} + {}", keys.shown(kRank), keys.source(kRotated)));
  keys.warn(
      "for a file of this age llama.cpp caches the keys and values of all heads, not the latent "
      "row "
      "that is counted here");
  return row;
}

// embedding_length / head_count where the header does not state it, in llama.cpp for keys and
// values alike.
Index head_dim(GgufKeys& keys, const std::string& quantity, std::string_view key, Index layers) {
  if (const auto stated = keys.count(key, 1, kMaxModelWidth)) {
    keys.say(quantity, fmt::format("{}", *stated), key);
    return *stated;
  }
  constexpr std::string_view kWidth = "embedding_length";
  const auto width = keys.count(kWidth, 1, kMaxModelWidth);
  auto heads = keys.each(kHeads, layers, 0, kMaxModelWidth);
  if (!width || !heads) keys.fail(key, "is missing");
  std::erase(*heads, 0);
  std::sort(heads->begin(), heads->end());
  if (heads->empty() || heads->front() != heads->back() || *width % heads->front() != 0) {
    keys.fail(key, fmt::format("is missing, and {} is no multiple of one {}", keys.shown(kWidth),
                               keys.shown(kHeads)));
  }
  keys.origin(quantity, *width / heads->front(),
              fmt::format("{} / {}", keys.shown(kWidth), keys.source(kHeads)));
  return *width / heads->front();
}

}  // namespace

std::string default_of(const GgufArchitecture& rule) {
  return fmt::format("default of {} in llama.cpp", rule.name);
}

std::vector<Layer> read_gguf_layers(GgufKeys& keys, const GgufArchitecture& rule) {
  const Index count = count_layers(keys);
  std::vector<Layer> layers(static_cast<std::size_t>(count));
  read_heads(keys, rule, layers);
  read_states(keys, rule, layers);
  if (std::none_of(layers.begin(), layers.end(), [](const Layer& l) { return l.has_cache(); })) {
    return layers;
  }
  if (rule.latent) {
    const Index row = latent_row(keys);
    for (Layer& layer : layers) {
      if (!layer.has_cache()) continue;
      layer.kv_heads = 1;
      layer.head_dim_k = row;
      layer.latent = true;
    }
    return layers;
  }
  const Index of_keys = head_dim(keys, "head_dim of K", "attention.key_length", count);
  const Index of_values = head_dim(keys, "head_dim of V", "attention.value_length", count);
  for (Layer& layer : layers) {
    layer.head_dim_k = of_keys;
    layer.head_dim_v = of_values;
  }
  return layers;
}

}  // namespace swa
