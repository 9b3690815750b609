// Architectures that are not known: only keys that mean the same everywhere are taken.
#include <fmt/format.h>

#include <cstdint>

#include "model/config/parts.hpp"
#include "model/config/rules.hpp"

namespace swa {
namespace {

bool is_off(const nlohmann::json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() == 0;
  if (value.is_number()) return value.get<double>() <= 0;
  return value.is_null() || (value.is_array() && value.empty());
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
  constexpr std::string_view kSwitch = "use_sliding_window";
  const std::string remedy =
      "add layer_types, with sliding_attention or full_attention for each layer";
  const std::optional<bool> on = keys.flag(kSwitch);
  if (on == true) {
    keys.fail(kSwitch,
              fmt::format("is true, and which layers of {} then have the window is not known",
                          keys.architecture()),
              remedy);
  }
  if (on == false) {
    for (const char* key : {"sliding_window", "sliding_window_size", "max_window_layers"}) {
      keys.ignore(key, "use_sliding_window is false");
    }
  }
  for (const std::string& key : keys.unread()) {
    if (speaks_of_layers(key) && !is_off(*keys.peek(key))) {
      keys.fail(key,
                fmt::format("= {} says something about layers that is not known for {}",
                            keys.shown_value(key), keys.architecture()),
                remedy);
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
  return {uniform(layers, Sees::all)};
}

}  // namespace swa
