#include <fmt/format.h>

#include "model/config/heads.hpp"

namespace swa {
namespace {

constexpr Index kMost = kMaxModelWidth;

class HeadReader {
 public:
  HeadReader(ConfigKeys& keys, const Architecture& architecture)
      : keys_(keys), architecture_(architecture) {}

  Heads common(Index layers) {
    if (keys_.has("index_head_dim")) {
      keys_.warn("the keys of the indexer, which picks the rows to attend, are not counted");
    }
    if (keys_.has("kv_lora_rank")) return latent();
    Heads heads;
    heads.kv_heads_of_layers = listed_kv_heads(layers);
    if (heads.kv_heads_of_layers.empty()) heads.kv_heads = kv_heads();
    const auto of_values = keys_.count("v_head_dim", 1, kMost);
    heads.dim_k = head_dim(of_values ? "head_dim of K" : "head_dim");
    heads.dim_v = of_values.value_or(heads.dim_k);
    if (of_values) keys_.origin("head_dim of V", heads.dim_v, keys_.shown("v_head_dim"));
    if (architecture_.head_keys == HeadKeys::one_row) one_row(heads);
    return heads;
  }

 private:
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
      keys_.origin(quantity, architecture_.kv_heads, keys_.class_default());
      check_group("num_key_value_heads", architecture_.kv_heads);
      return architecture_.kv_heads;
    }
    const ConfigKeys::Named heads = query_heads();
    keys_.origin(quantity, heads.value, keys_.source_of(heads.key));
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
    keys_.origin("kv heads", keys_.shown_value(kKey), keys_.shown(kKey));
    return heads;
  }

  Index head_dim(const std::string& quantity) {
    if (const auto stated = keys_.count_of({"head_dim", "hidden_size_per_head"}, 1, kMost)) {
      keys_.origin(quantity, stated->value, keys_.shown(stated->key));
      return stated->value;
    }
    if (architecture_.head_dim != 0 && !keys_.is_there("head_dim")) {
      keys_.origin(quantity, architecture_.head_dim, keys_.class_default());
      return architecture_.head_dim;
    }
    const ConfigKeys::Named heads = query_heads();
    return elements_of_a_head(keys_, heads.key, heads.value, quantity);
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
        "latent row", rank + *rope,
        fmt::format("{} + {}", keys_.shown("kv_lora_rank"), keys_.shown("qk_rope_head_dim")));
    return {1, rank + *rope, 0, true};
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

  ConfigKeys& keys_;
  const Architecture& architecture_;
};

}  // namespace

Heads read_common_heads(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  return HeadReader(keys, architecture).common(layers);
}

Index elements_of_a_head(ConfigKeys& keys, std::string_view divisor_key, Index divisor,
                         const std::string& quantity) {
  const auto hidden = keys.count_of({"hidden_size", "n_embd"}, 1, kMaxIndex);
  if (!hidden) keys.fail("hidden_size", "is missing, and 'head_dim' too");
  const std::string from =
      fmt::format("{} / {}", keys.shown(hidden->key), keys.source_of(divisor_key));
  if (hidden->value % divisor != 0 || hidden->value / divisor > kMost) {
    keys.fail(hidden->key,
              fmt::format("= {} divided by '{}' = {} is no whole number up to {}, and 'head_dim' "
                          "is missing",
                          hidden->value, keys.shown(divisor_key), divisor, kMost));
  }
  keys.origin(quantity, hidden->value / divisor, from);
  return hidden->value / divisor;
}

}  // namespace swa
