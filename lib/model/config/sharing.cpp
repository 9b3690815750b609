#include <fmt/format.h>

#include "model/config/parts.hpp"
#include "model/reading.hpp"

namespace swa {
namespace {

constexpr std::string_view kGroups = "kv_reuse_group";

void share_the_last(ConfigKeys& keys, const Architecture& architecture,
                    std::vector<Layer>& layers) {
  constexpr std::string_view kKey = "num_kv_shared_layers";
  const auto count = static_cast<Index>(layers.size());
  const Index shared = keys.count(kKey, 0, count).value_or(architecture.shared_layers);
  if (shared == 0) return;
  if (!architecture.shares) {
    keys.fail(kKey, fmt::format("= {} is not known for {}", shared, keys.architecture()));
  }
  if (shared >= count) {
    keys.fail(kKey,
              fmt::format("= {} leaves none of {} layers with a cache of its own", shared, count));
  }
  keys.origin("layers that share a cache", fmt::format("the last {}", shared),
              keys.source_of(kKey));
  if (const std::optional<Index> orphan = share_last(layers, shared)) {
    keys.fail(kKey, fmt::format("= {} leaves layer {} no earlier layer of its kind to share with",
                                shared, *orphan));
  }
}

// The first layer of each group keeps the cache of all in it.
void share_groups(ConfigKeys& keys, const LayerPlan& plan, std::vector<Layer>& layers) {
  const nlohmann::json& groups = *keys.value(kGroups);
  const auto refuse = [&] { keys.fail(kGroups, "is not a list of lists of layers"); };
  if (!groups.is_array()) refuse();
  std::vector<bool> is_named(layers.size(), false);
  for (const nlohmann::json& group : groups) {
    if (!group.is_array()) refuse();
    std::optional<std::size_t> first;
    for (const nlohmann::json& number : group) {
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() >= layers.size()) {
        keys.fail(kGroups,
                  fmt::format("has an entry that is none of the {} layers", layers.size()));
      }
      const auto i = number.get<std::size_t>();
      if (is_named[i]) keys.fail(kGroups, fmt::format("names layer {} twice", i));
      is_named[i] = true;
      if (!first) first = i;
      const bool have_caches = layers[i].has_cache() && layers[*first].has_cache();
      if (i < *first || plan.sees[i] != plan.sees[*first] || !have_caches) {
        keys.fail(kGroups,
                  fmt::format("lets layer {} share with layer {}, which is later, of another "
                              "kind or without a cache",
                              i, *first));
      }
      if (i != *first) layers[i].keeps = Keeps::shared;
    }
  }
  keys.origin("layers that share a cache", "all but the first of each group", keys.shown(kGroups));
}

}  // namespace

void read_sharing(ConfigKeys& keys, const Architecture& architecture, const LayerPlan& plan,
                  std::vector<Layer>& layers) {
  share_the_last(keys, architecture, layers);
  for (const std::string_view key : {kGroups, std::string_view("kv_reuse_every_i_layer"),
                                     std::string_view("cla_share_factor")}) {
    const bool is_on = keys.has(key) && (!keys.peek(key)->is_number() || *keys.whole(key) > 0);
    if (!is_on || (architecture.reuses_groups && key == kGroups)) continue;
    keys.fail(key, fmt::format("= {} shares caches between layers in a way that is not "
                               "established for {}",
                               keys.shown_value(key), keys.architecture()));
  }
  if (architecture.reuses_groups && keys.has(kGroups)) share_groups(keys, plan, layers);
}

}  // namespace swa
