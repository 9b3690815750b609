#include <fmt/format.h>

#include "model/config_parts.hpp"

namespace swa {
namespace {

constexpr Index kMost = kMaxModelWidth;

// What one token takes in the cache of a layer.
struct Heads {
  Index kv_heads = 0;
  Index dim_k = 0, dim_v = 0;
  bool latent = false;
  std::vector<Index> kv_heads_of_layers;  // where the config lists them; else empty
};

class HeadReader {
 public:
  HeadReader(ConfigKeys& keys, const Architecture& architecture)
      : keys_(keys), architecture_(architecture) {}

  // Of all layers, or of those that no other key speaks of.
  Heads common(Index layers) {
    if (keys_.has("index_head_dim")) {
      keys_.warn("the keys of the indexer, which picks the rows to attend, are not counted");
    }
    if (keys_.has("kv_lora_rank")) return latent();
    Heads heads;
    heads.kv_heads_of_layers = listed_kv_heads(layers);
    if (heads.kv_heads_of_layers.empty()) heads.kv_heads = kv_heads();
    heads.dim_k = head_dim();
    heads.dim_v = keys_.count("v_head_dim", 1, kMost).value_or(heads.dim_k);
    if (heads.dim_v != heads.dim_k) {
      keys_.origin("elements of a value head", heads.dim_v, keys_.shown("v_head_dim"));
    }
    if (architecture_.head_keys == HeadKeys::one_row) one_row(heads);
    return heads;
  }

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
          heads.dim_k = heads.dim_v =
              quotient("num_swa_attention_heads", *q_heads, "elements of a head of sliding layers");
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

  std::optional<ConfigKeys::Named> stated_query_heads() {
    return keys_.count_of({"num_attention_heads", "num_heads", "n_head"}, 1, kMost);
  }

  ConfigKeys::Named query_heads() {
    const auto stated = stated_query_heads();
    if (stated) return *stated;
    if (architecture_.heads == 0) keys_.fail("num_attention_heads", "is missing");
    return {"num_attention_heads", architecture_.heads};
  }

  Index kv_heads() {
    const std::string quantity = "kv heads";
    const bool is_grouped = keys_.flag("new_decoder_architecture") == true;
    if (keys_.flag("multi_query") == true && !is_grouped && !keys_.has("num_key_value_heads")) {
      keys_.ignore("num_kv_heads", "multi_query is true: one head stands for all");
      keys_.origin(quantity, 1, keys_.shown("multi_query"));
      return 1;
    }
    if (const auto stated = keys_.count_of(
            {"num_key_value_heads", "num_attention_groups", "num_kv_heads", "n_head_kv"}, 1,
            kMost)) {
      keys_.origin(quantity, stated->value, keys_.shown(stated->key));
      check_group(stated->key, stated->value);
      return stated->value;
    }
    // null asks for as many as there are query heads, whatever the default.
    if (architecture_.kv_heads != 0 && !keys_.is_there("num_key_value_heads")) {
      keys_.origin(quantity, architecture_.kv_heads, "default of " + keys_.architecture());
      check_group("num_key_value_heads", architecture_.kv_heads);
      return architecture_.kv_heads;
    }
    const ConfigKeys::Named heads = query_heads();
    keys_.origin(quantity, heads.value, keys_.shown(heads.key));
    return heads.value;
  }

  void check_group(std::string_view key, Index kv_heads) {
    const auto q_heads = stated_query_heads();
    if (!q_heads || q_heads->value % kv_heads == 0) return;
    keys_.fail(q_heads->key, fmt::format("= {} is no multiple of '{}' = {}", q_heads->value,
                                         keys_.shown(key), kv_heads));
  }

  std::vector<Index> listed_kv_heads(Index layers) {
    constexpr std::string_view kKey = "num_key_value_heads";
    if (!keys_.has(kKey) || !keys_.peek(kKey)->is_array()) return {};
    std::vector<Index> heads = *keys_.counts(kKey, 0, kMost);
    keys_.one_each(kKey, heads, layers);
    keys_.origin("kv heads of each layer", keys_.shown_value(kKey), keys_.shown(kKey));
    return heads;
  }

  Index quotient(std::string_view divisor_key, Index divisor, const std::string& quantity) {
    const auto hidden = keys_.count_of({"hidden_size", "n_embd"}, 1, kMaxIndex);
    if (!hidden) keys_.fail("hidden_size", "is missing, and 'head_dim' too");
    const std::string from =
        fmt::format("{} / {}", keys_.shown(hidden->key), keys_.shown(divisor_key));
    if (hidden->value % divisor != 0 || hidden->value / divisor > kMost) {
      keys_.fail(
          hidden->key,
          fmt::format("= {} divided by '{}' = {} is no whole number up to {}, and 'head_dim' "
                      "is missing",
                      hidden->value, keys_.shown(divisor_key), divisor, kMost));
    }
    keys_.origin(quantity, hidden->value / divisor, from);
    return hidden->value / divisor;
  }

  Index head_dim() {
    const std::string quantity = "elements of a head";
    if (const auto stated = keys_.count_of({"head_dim", "hidden_size_per_head"}, 1, kMost)) {
      keys_.origin(quantity, stated->value, keys_.shown(stated->key));
      return stated->value;
    }
    if (architecture_.head_dim != 0 && !keys_.is_there("head_dim")) {
      keys_.origin(quantity, architecture_.head_dim, "default of " + keys_.architecture());
      return architecture_.head_dim;
    }
    const ConfigKeys::Named heads = query_heads();
    return quotient(heads.key, heads.value, quantity);
  }

  // Multi-head latent attention.
  Heads latent() {
    const Index rank = keys_.count("kv_lora_rank", 1, kMost).value();
    const auto rope = keys_.count("qk_rope_head_dim", 0, kMost);
    if (!rope) keys_.fail("qk_rope_head_dim", "is missing, and 'kv_lora_rank' is there");
    for (const char* key :
         {"num_key_value_heads", "v_head_dim", "head_dim", "qk_nope_head_dim", "qk_head_dim"}) {
      keys_.ignore(key, "one latent row stands for the keys and values of all heads");
    }
    keys_.origin(
        "elements of the latent row", rank + *rope,
        fmt::format("{} + {}", keys_.shown("kv_lora_rank"), keys_.shown("qk_rope_head_dim")));
    return {1, rank + *rope, 0, true, {}};
  }

  void one_row(Heads& heads) {
    if (heads.kv_heads != 1) {
      keys_.fail("num_key_value_heads",
                 fmt::format("is not 1, and {} keeps one row for all heads", keys_.architecture()));
    }
    keys_.ignore("qk_rope_head_dim", "the row of head_dim elements includes it");
    heads.dim_v = 0;
    heads.latent = true;
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
  HeadReader reader(keys, architecture);
  const Heads common = reader.common(static_cast<Index>(layers.size()));
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
