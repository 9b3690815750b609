#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/config/parts.hpp"

namespace swa {
namespace {

constexpr std::pair<std::string_view, std::string_view> kReasons[] = {
    {"cache_implementation", "a hint for the cache of transformers: it changes no window"},
    {"full_attn_mod", "what it does is not established; the published value is 1"},
    {"interpolate_factor", "what it does is not established; the published value is 1"},
    {"attention_k_eq_v", "it shares weights: keys and values are two tensors in the cache"},
    {"sparse_attention_config", "sparse attention keeps all keys"},
    {"num_attention_heads_per_layer", "query heads take no room in the cache"},
    {"swa_num_attention_heads", "query heads take no room in the cache"},
    {"num_nextn_predict_layers", "layers that predict further tokens are not counted"},
    {"mtp_layer_types", "layers that predict further tokens are not counted"},
    {"mtp_sliding_windows", "layers that predict further tokens are not counted"},
    {"mtp_config", "layers that predict further tokens are not counted"},
    {"conv_window", "the state of the convolution does not grow with the context"},
    {"conv1d_width", "the state of the convolution does not grow with the context"},
    {"sconv_kernel_size", "the state of the convolution does not grow with the context"},
    {"no_rope_layers", "it says which layers have rotary embedding, which takes no room"},
    {"no_rope_layer_interval", "it says which layers have rotary embedding, which takes no room"},
    {"original_max_position_embeddings", "the length of training before the base was scaled"},
    {"window_size", "elsewhere than in gpt_neo it is about other things than text"},
    {"sliding_window", "no layer of this plan has a window"},
    {"sliding_window_size", "no layer of this plan has a window"},
};

// Parts of the names of keys that say something about layers in some family: which of them has a
// window, or no cache,
constexpr std::string_view kOfLayers[] = {
    "window",      "sliding",    "swa_",         "_swa",        "chunk",        "local_att",
    "block_type",  "layer_ids",  "attn_idx",     "attn_layer",  "attn_type",    "full_att",
    "global_attn", "hybrid_lay", "hybrid_overr", "linear_attn", "attention_ty", "attention_layers",
};
// and other things.
constexpr std::string_view kOfCaches[] = {
    "layer_types", "kv_shared",   "kv_reuse", "cla_share",  "compress_", "kv_lora",
    "head_dim",    "key_value_h", "kv_heads", "mamba_step", "use_bidir",
};

// Parts of the names of keys that give the cache a type of its own.
constexpr std::string_view kOfTypes[] = {"kv_cache_scheme", "kv_cache_quant", "kv_cache_dtype",
                                         "kv_cache_bits"};

template <std::size_t n>
bool holds_any(std::string_view key, const std::string_view (&parts)[n]) {
  return std::any_of(std::begin(parts), std::end(parts), [&](std::string_view part) {
    return key.find(part) != std::string_view::npos;
  });
}

void note_type_of_cache(ConfigKeys& keys) {
  for (const std::string& key : keys.unread()) {
    if (!holds_any(key, kOfTypes)) continue;
    keys.ignore(key, "elements of the cache have the type that --dtype states");
  }
}

}  // namespace

bool speaks_of_layers(std::string_view key) {
  return holds_any(key, kOfLayers);
}

void note_quantized_cache(ConfigKeys& keys) {
  constexpr std::string_view kKey = "quantization_config";
  note_type_of_cache(keys);
  if (!keys.has(kKey) || !keys.peek(kKey)->is_object()) return;
  ConfigKeys quantization = *keys.object(kKey);
  note_type_of_cache(quantization);
}

void note_ignored(ConfigKeys& keys) {
  const std::string usual = fmt::format("{} does not read it", keys.architecture());
  for (const std::string& key : keys.unread()) {
    for (const auto& [known, reason] : kReasons) {
      if (key == known) keys.ignore(key, reason);
    }
    if (speaks_of_layers(key) || holds_any(key, kOfCaches)) keys.ignore(key, usual);
  }
}

}  // namespace swa
