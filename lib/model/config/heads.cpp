#include "model/config/heads.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/config/parts.hpp"

namespace swa {
namespace {

constexpr Index kMost = kMaxModelWidth;
const std::string kLocalHeads = "kv heads, local", kLocalDim = "head_dim, local";

// From the heads of all layers to those of one kind.
class HeadKinds {
 public:
  HeadKinds(ConfigKeys& keys, const Architecture& architecture)
      : keys_(keys), architecture_(architecture) {}

  // Of layers with a window, where they differ.
  Heads local(Heads heads) {
    switch (architecture_.head_keys) {
      case HeadKeys::swa_first:
        take_kv_heads(keys_, "swa_num_key_value_heads", kLocalHeads, heads);
        heads.dim_k = take("swa_head_dim", kLocalDim, heads.dim_k);
        if (!keys_.has("v_head_dim")) heads.dim_v = heads.dim_k;
        heads.dim_v = take("swa_v_head_dim", "head_dim of V, local", heads.dim_v);
        break;
      case HeadKeys::swa_inside: {
        take_kv_heads(keys_, "num_swa_key_value_heads", kLocalHeads, heads);
        if (const auto q_heads = keys_.count("num_swa_attention_heads", 1, kMost)) {
          heads.dim_k = heads.dim_v =
              elements_of_a_head(keys_, "num_swa_attention_heads", *q_heads, kLocalDim);
        }
        break;
      }
      case HeadKeys::other_setting:
        if (auto other = keys_.object("attention_other_setting")) other_setting(*other, heads);
        break;
      default:
        break;
    }
    return heads;
  }

  // Of layers that see all keys, where they differ.
  Heads global(Heads heads) {
    if (architecture_.head_keys != HeadKeys::of_full_layers) return heads;
    constexpr Index kUsual = 512;
    heads.dim_k = heads.dim_v = keys_.count("global_head_dim", 1, kMost).value_or(kUsual);
    keys_.origin("head_dim, global", heads.dim_k, keys_.source_of("global_head_dim"));
    constexpr std::string_view kKey = "num_global_key_value_heads";
    const std::optional<bool> gate = keys_.flag("attention_k_eq_v");
    if (gate == false) {
      keys_.ignore(kKey, "attention_k_eq_v is false, and transformers then does not read it");
      return heads;
    }
    if (gate == true) {
      keys_.warn(
          "attention_k_eq_v shares weights alone: keys and values are two tensors in the "
          "cache");
    } else if (keys_.has(kKey)) {
      keys_.warn(
          "num_global_key_value_heads is used, though attention_k_eq_v is missing and "
          "transformers reads the one with the other alone");
    }
    take_kv_heads(keys_, kKey, "kv heads, global", heads);
    return heads;
  }

 private:
  // A list of the key-value heads of each layer leaves no number for those of a kind.
  static void take_kv_heads(ConfigKeys& keys, std::string_view key, const std::string& quantity,
                            Heads& heads) {
    const auto stated = keys.count(key, 1, kMost);
    if (!stated) return;
    if (!heads.kv_heads_of_layers.empty()) {
      keys.fail(
          key,
          fmt::format("= {} stands beside a list of the key-value heads of each layer", *stated),
          "keep the one that holds");
    }
    heads.kv_heads = *stated;
    keys.origin(quantity, *stated, keys.shown(key));
  }

  Index take(std::string_view key, const std::string& quantity, Index usual) {
    const auto stated = keys_.count(key, 1, kMost);
    if (stated) keys_.origin(quantity, *stated, keys_.shown(key));
    return stated.value_or(usual);
  }

  void other_setting(ConfigKeys& other, Heads& heads) {
    const auto type = other.text("attention_type");
    if (type && *type != "sliding_attention") {
      other.fail("attention_type", fmt::format("= {} is not 'sliding_attention'",
                                               other.shown_value("attention_type")));
    }
    take_kv_heads(other, "num_attention_groups", kLocalHeads, heads);
    if (const auto dim = other.count("head_dim", 1, kMost)) {
      heads.dim_k = heads.dim_v = *dim;
      keys_.origin(kLocalDim, *dim, other.shown("head_dim"));
    }
  }

  ConfigKeys& keys_;
  const Architecture& architecture_;
};

}  // namespace

void read_heads(ConfigKeys& keys, const Architecture& architecture, const LayerPlan& plan,
                std::vector<Layer>& layers) {
  const bool has_cache =
      std::any_of(layers.begin(), layers.end(), [](const Layer& l) { return l.has_cache(); });
  if (!has_cache) return;
  HeadKinds reader(keys, architecture);
  const Heads common = read_common_heads(keys, architecture, static_cast<Index>(layers.size()));
  const bool has_local = plan.has(Sees::window) || plan.has(Sees::chunk);
  const Heads local = has_local ? reader.local(common) : common;
  const Heads global = plan.has(Sees::all) ? reader.global(common) : common;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Layer& layer = layers[i];
    if (!layer.has_cache()) continue;
    const Heads& heads = plan.sees[i] == Sees::all ? global : local;
    layer.kv_heads =
        heads.kv_heads_of_layers.empty() ? heads.kv_heads : heads.kv_heads_of_layers[i];
    layer.head_dim_k = heads.dim_k;
    layer.head_dim_v = heads.dim_v;
    layer.latent = heads.latent;
    if (layer.kv_heads == 0) layer.keeps = Keeps::none;
  }
}

}  // namespace swa
