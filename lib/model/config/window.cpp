#include <fmt/format.h>

#include <algorithm>

#include "model/config/parts.hpp"

namespace swa {
namespace {

constexpr std::string_view kChunkKey = "attention_chunk_size";

// The first of the keys that is there; the others say the same.
std::optional<Index> read_width(ConfigKeys& keys, std::initializer_list<std::string_view> names,
                                const std::string& quantity, std::optional<Index> usual,
                                bool is_expected) {
  const auto there = std::find_if(names.begin(), names.end(),
                                  [&](std::string_view key) { return keys.is_there(key); });
  std::optional<ConfigKeys::Named> stated;
  for (const std::string_view key : names) {
    const std::optional<Index> width = keys.whole(key);
    if (!width) continue;
    if (stated && stated->value != *width) {
      keys.fail(
          key,
          fmt::format("= {} contradicts '{}' = {}", *width, keys.shown(stated->key), stated->value),
          "keep the one that holds");
    }
    if (!stated) stated = ConfigKeys::Named{std::string(key), *width};
  }
  if (stated && stated->value > 0) {
    if (stated->value > kMaxIndex) {
      keys.fail(stated->key, fmt::format("= {} is above 2^60", stated->value));
    }
    keys.origin(quantity, stated->value, keys.shown(stated->key));
    return stated->value;
  }
  if (there == names.end()) {
    if (!usual) {
      keys.fail(*names.begin(), fmt::format("is missing, and there are layers of {} with a {}",
                                            keys.architecture(), quantity));
    }
    if (*usual > 0) {
      keys.origin(quantity, *usual, "default of " + keys.architecture());
      return usual;
    }
    keys.origin(quantity, "none", "default of " + keys.architecture());
    return std::nullopt;
  }
  const std::string key = stated ? stated->key : std::string(*there);
  const std::string value = stated ? fmt::format("{}", stated->value) : "null";
  keys.origin(quantity, "none", fmt::format("{} = {}", keys.shown(key), value));
  if (stated || is_expected) {
    keys.warn(fmt::format("{} = {} never binds: all layers with attention see all keys",
                          keys.shown(key), value));
  }
  return std::nullopt;
}

}  // namespace

std::optional<Index> read_window(ConfigKeys& keys, const Architecture& architecture,
                                 const LayerPlan& plan) {
  const bool is_mixed = plan.has(Sees::all);
  const std::string quantity = "window";
  if (architecture.window_key == "sliding_window") {
    return read_width(keys, {"sliding_window", "sliding_window_size", "interleaved_sliding_window"},
                      quantity, architecture.window, is_mixed);
  }
  if (architecture.window_key == "attention_window_size") {
    return read_width(keys, {"attention_window_size", "sliding_window"}, quantity,
                      architecture.window, is_mixed);
  }
  if (architecture.window_key == kChunkKey) {  // its own layers have chunks, not windows
    return read_width(keys, {"sliding_window"}, quantity, std::nullopt, is_mixed);
  }
  return read_width(keys, {architecture.window_key}, quantity, architecture.window, is_mixed);
}

std::optional<Index> read_chunk(ConfigKeys& keys, const Architecture& architecture) {
  const bool has_default = architecture.window_key == kChunkKey;
  return read_width(keys, {kChunkKey}, "chunk", has_default ? architecture.window : std::nullopt,
                    true);
}

bool is_encoder(ConfigKeys& keys, const Architecture& architecture) {
  constexpr std::string_view kKey = "use_bidirectional_attention";
  if (!keys.has(kKey) || architecture.encoder) return architecture.encoder;
  const bool is_gemma4 = architecture.head_keys == HeadKeys::of_full_layers;
  if (is_gemma4 && keys.peek(kKey)->is_string()) {
    const std::string who = *keys.text(kKey);
    if (who != "all" && who != "vision") {
      keys.fail(kKey, fmt::format("= {} is neither 'all' nor 'vision'", keys.shown_value(kKey)));
    }
    if (who == "vision") keys.warn("tokens of an image see each other both ways; text is causal");
    return who == "all";
  }
  if (keys.flag(kKey) != true) return false;
  const Architecture* gemma3 = find_architecture("gemma3");
  if (&architecture != gemma3) {
    keys.fail(kKey, fmt::format("is true, and what becomes of the window of {} then is not "
                                "established",
                                keys.architecture()));
  }
  return true;
}

}  // namespace swa
