#include "model/config/heads.hpp"

#include <fmt/format.h>

#include "model/config/parts.hpp"

namespace swa {
namespace {

constexpr Index kMost = kMaxModelWidth;

// From the heads of all layers to those of one kind.
class HeadKinds {
 public:
  HeadKinds(ConfigKeys& keys, const Architecture& architecture)
      : keys_(keys), architecture_(architecture) {}

  // Of layers with a window, where they differ.
  Heads local(Heads heads) {
    switch (architecture_.head_keys) {
      case HeadKeys::swa_first:
        heads.kv_heads =
            take("swa_num_key_value_heads", "kv heads of sliding layers", heads.kv_heads);
        heads.dim_k = take("swa_head_dim", "elements of a head of sliding layers", heads.dim_k);
        if (!keys_.has("v_head_dim")) heads.dim_v = heads.dim_k;
        heads.dim_v =
            take("swa_v_head_dim", "elements of a value head of sliding layers", heads.dim_v);
        break;
      case HeadKeys::swa_inside: {
        heads.kv_heads =
            take("num_swa_key_value_heads", "kv heads of sliding layers", heads.kv_heads);
        if (const auto q_heads = keys_.count("num_swa_attention_heads", 1, kMost)) {
          heads.dim_k = heads.dim_v = elements_of_a_head(keys_, "num_swa_attention_heads", *q_heads,
                                                         "elements of a head of sliding layers");
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
    const auto dim = keys_.count("global_head_dim", 1, kMost);
    heads.dim_k = heads.dim_v = dim.value_or(kUsual);
    keys_.origin("elements of a head of global layers", heads.dim_k,
                 dim ? keys_.shown("global_head_dim") : "default of " + keys_.architecture());
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
    heads.kv_heads = take(kKey, "kv heads of global layers", heads.kv_heads);
    return heads;
  }

 private:
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
    if (const auto groups = other.count("num_attention_groups", 1, kMost)) {
      heads.kv_heads = *groups;
      keys_.origin("kv heads of sliding layers", *groups, other.shown("num_attention_groups"));
    }
    if (const auto dim = other.count("head_dim", 1, kMost)) {
      heads.dim_k = heads.dim_v = *dim;
      keys_.origin("elements of a head of sliding layers", *dim, other.shown("head_dim"));
    }
  }

  ConfigKeys& keys_;
  const Architecture& architecture_;
};

}  // namespace

void read_heads(ConfigKeys& keys, const Architecture& architecture, const LayerPlan& plan,
                std::vector<Layer>& layers) {
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
