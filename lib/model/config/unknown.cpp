// Architectures that are not known: only keys that mean the same everywhere are taken.
#include <fmt/format.h>

#include <array>

#include "model/config/rules.hpp"

namespace swa {
namespace {

// Keys that say something about layers, in some family or other.
constexpr std::array<std::string_view, 31> kLayerKeys = {
    "sliding_window",     "sliding_window_size",        "sliding_windows",
    "local_window",       "interleaved_sliding_window", "sliding_window_pattern",
    "local_attention",    "_sliding_window_pattern",    "global_attn_every_n_layers",
    "attention_window",   "attention_chunk_size",       "attention_window_size",
    "window_size",        "hybrid_layer_pattern",       "local_layer_ids",
    "global_attn_idx",    "sliding_window_layers",      "sliding_window_layout",
    "attention_types",    "attention_layers",           "block_types",
    "_block_types",       "layers_block_type",          "full_attn_idxs",
    "linear_attn_config", "full_attention_interval",    "attn_layer_indices",
    "attn_layer_period",  "hybrid_override_pattern",    "attn_type_list",
    "full_attention_idx"};

bool is_off(const nlohmann::json& value) {
  return value.is_null() || (value.is_number_integer() && value.get<Index>() <= 0) ||
         (value.is_array() && value.empty());
}

}  // namespace

void check_unknown(ConfigKeys& keys) {
  if (keys.flag("is_encoder_decoder") == true) {
    keys.fail("is_encoder_decoder",
              fmt::format("is true, and which caches {} has is not known", keys.architecture()));
  }
  for (const char* key :
       {"compress_ratios", "compress_rates", "global_head_dim", "num_global_key_value_heads",
        "swa_num_key_value_heads", "swa_head_dim", "swa_v_head_dim", "num_swa_key_value_heads",
        "num_swa_attention_heads", "attention_other_setting"}) {
    if (!keys.has(key)) continue;
    keys.fail(key, fmt::format("= {} gives some layers another cache in a way that is not known "
                               "for {}",
                               keys.shown_value(key), keys.architecture()));
  }
  if (keys.has("layer_types")) {
    keys.warn(
        fmt::format("{} is not known: layer_types and the keys about heads are assumed to "
                    "mean what they mean elsewhere",
                    keys.architecture()));
  }
}

LayerPlan only_what_is_plain(ConfigKeys& keys, const Architecture&, Index layers) {
  const bool is_off_as_a_whole = keys.flag("use_sliding_window") == false;
  if (is_off_as_a_whole) keys.ignore("sliding_window", "use_sliding_window is false");
  for (const std::string& key : keys.unread()) {
    for (const std::string_view known : kLayerKeys) {
      if (key != known || is_off(*keys.peek(key))) continue;
      keys.fail(key,
                fmt::format("= {} says something about layers that is not known for {}",
                            keys.shown_value(key), keys.architecture()),
                "add layer_types, with sliding_attention or full_attention for each layer");
    }
    for (const std::string_view start : {"mamba", "ssm_", "rwkv", "linear_", "conv_"}) {
      if (!key.starts_with(start)) continue;
      keys.fail(key,
                fmt::format("speaks of layers without a cache, and which they are is not "
                            "known for {}",
                            keys.architecture()),
                "add layer_types, with linear_attention or full_attention for each layer");
    }
  }
  keys.warn(
      fmt::format("{} is not known: since no key speaks of a window, every layer is assumed "
                  "to keep all keys",
                  keys.architecture()));
  keys.origin("layers that see all keys", "all", "assumed");
  return {std::vector<Sees>(static_cast<std::size_t>(layers), Sees::all), {}, {}};
}

}  // namespace swa
