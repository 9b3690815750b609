#include <fmt/format.h>

#include <algorithm>

#include "model/config/parts.hpp"

namespace swa {
namespace {

void share_last(ConfigKeys& keys, const Architecture& architecture, const LayerPlan& plan,
                std::vector<Layer>& layers) {
  constexpr std::string_view kKey = "num_kv_shared_layers";
  const auto count = static_cast<Index>(layers.size());
  const auto stated = keys.count(kKey, 0, count);
  const Index shared = stated.value_or(architecture.shared_layers);
  if (shared == 0) return;
  if (!architecture.shares) {
    keys.fail(kKey, fmt::format("= {} is not known for {}", shared, keys.architecture()));
  }
  if (shared >= count) {
    keys.fail(kKey,
              fmt::format("= {} leaves none of {} layers with a cache of its own", shared, count));
  }
  keys.origin("last layers that share a cache", shared,
              stated ? keys.shown(kKey) : "default of " + keys.architecture());
  const auto first = static_cast<std::size_t>(count - shared);
  const auto owner_end = plan.sees.begin() + (count - shared);
  for (std::size_t i = first; i < layers.size(); ++i) {
    if (!layers[i].has_cache()) continue;
    if (std::find(plan.sees.begin(), owner_end, plan.sees[i]) == owner_end) {
      keys.fail(kKey, fmt::format("= {} leaves layer {} no earlier layer of its kind to share with",
                                  shared, i));
    }
    layers[i].keeps = Keeps::shared;
  }
}

// The first layer of each group keeps the cache of all in it.
void share_groups(ConfigKeys& keys, const LayerPlan& plan, std::vector<Layer>& layers) {
  constexpr std::string_view kKey = "kv_reuse_group";
  const nlohmann::json& groups = *keys.value(kKey);
  const auto refuse = [&] { keys.fail(kKey, "is not a list of lists of layers"); };
  if (!groups.is_array()) refuse();
  std::vector<bool> is_named(layers.size(), false);
  for (const nlohmann::json& group : groups) {
    if (!group.is_array()) refuse();
    std::optional<std::size_t> first;
    for (const nlohmann::json& number : group) {
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() >= layers.size()) {
        keys.fail(kKey, fmt::format("has an entry that is none of the {} layers", layers.size()));
      }
      const auto i = number.get<std::size_t>();
      if (is_named[i]) keys.fail(kKey, fmt::format("names layer {} twice", i));
      is_named[i] = true;
      if (!first) first = i;
      if (i < *first || plan.sees[i] != plan.sees[*first]) {
        keys.fail(kKey, fmt::format("lets layer {} share with layer {}, which is later or of "
                                    "another kind",
                                    i, *first));
      }
      if (i != *first) layers[i].keeps = Keeps::shared;
    }
  }
  keys.origin("layers that share a cache", "all but the first of each group", keys.shown(kKey));
}

}  // namespace

void read_sharing(ConfigKeys& keys, const Architecture& architecture, const LayerPlan& plan,
                  std::vector<Layer>& layers) {
  share_last(keys, architecture, plan, layers);
  const bool is_hymba = &architecture == find_architecture("hymba");
  for (const char* key : {"kv_reuse_group", "kv_reuse_every_i_layer", "cla_share_factor"}) {
    const bool is_on = keys.has(key) && (!keys.peek(key)->is_number() || *keys.whole(key) > 0);
    if (!is_on || (is_hymba && key == std::string_view("kv_reuse_group"))) continue;
    keys.fail(key, fmt::format("= {} shares caches between layers in a way that is not "
                               "established for {}",
                               keys.shown_value(key), keys.architecture()));
  }
  if (is_hymba && keys.has("kv_reuse_group")) share_groups(keys, plan, layers);
}

}  // namespace swa
