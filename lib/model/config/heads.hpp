// The heads of a layer, as a config states them.
#pragma once

#include "model/config/architectures.hpp"

namespace swa {

// What one token takes in the cache of a layer.
struct Heads {
  Index kv_heads = 0;
  Index dim_k = 0, dim_v = 0;
  bool latent = false;
  std::vector<Index> kv_heads_of_layers = {};  // where the config lists them; else empty
};

// Of all layers, or of those that no other key speaks of.
Heads read_common_heads(ConfigKeys& keys, const Architecture& architecture, Index layers);

// hidden_size / `heads`, the elements of one of them; `key` states their number. Throws UsageError
// where it is no whole number.
Index elements_of_a_head(ConfigKeys& keys, std::string_view key, Index heads,
                         const std::string& quantity);

}  // namespace swa
