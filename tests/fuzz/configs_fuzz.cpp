#include <string>

#include "budget/demand.hpp"
#include "fuzz/targets.hpp"
#include "model/config.hpp"

bool swa::fuzz::configs(Bytes file) {
  const std::string text(reinterpret_cast<const char*>(file.data()), file.size());
  return is_taken([&] {
    const ConfigReading reading = read_config_text(text, "config.json");
    require(!reading.model.layers.empty(), "a layer at least");
    require(is_plain_word(reading.model.id), "a name that no shell reads as anything else");
    for (const Layer& layer : reading.model.layers) {
      const bool has_figures = layer.kv_heads > 0 && layer.head_dim_k > 0 && layer.head_dim_v >= 0;
      require(!layer.has_cache() || has_figures, "the heads of a layer with a cache");
      require(tokens_held(layer, 1000) >= 0, "a layer that can hold tokens");
    }
    // More bytes than there are numbers are refused.
    static_cast<void>(logical_bytes(reading.model, {1000, 1}));
    for (const Ignored& ignored : reading.ignored) require(!ignored.reason.empty(), "a reason");
  });
}
