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
  const std::optional<ConfigKeys::Named> stated = keys.whole_of(names);
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
    keys.origin(quantity, *usual > 0 ? fmt::format("{}", *usual) : "none", keys.class_default());
    return *usual > 0 ? usual : std::nullopt;
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
  const std::string_view key = architecture.window_key;
  if (key.starts_with("sliding_window")) {
    return read_width(keys,
                      {key, "sliding_window", "sliding_window_size", "interleaved_sliding_window"},
                      quantity, architecture.window, is_mixed);
  }
  if (key == "attention_window_size") {
    return read_width(keys, {key, "sliding_window"}, quantity, architecture.window, is_mixed);
  }
  if (key == kChunkKey) {  // its own layers have chunks, not windows
    return read_width(keys, {"sliding_window"}, quantity, std::nullopt, is_mixed);
  }
  return read_width(keys, {key}, quantity, architecture.window, is_mixed);
}

std::optional<Index> read_chunk(ConfigKeys& keys, const Architecture& architecture) {
  const bool has_default = architecture.window_key == kChunkKey;
  return read_width(keys, {kChunkKey}, "chunk", has_default ? architecture.window : std::nullopt,
                    true);
}

bool is_encoder(ConfigKeys& keys, const Architecture& architecture) {
  constexpr std::string_view kKey = "use_bidirectional_attention";
  if (!keys.has(kKey) || architecture.encoder) return architecture.encoder;
  bool sees_both_sides = false;
  if (architecture.both_ways == BothWays::words && keys.peek(kKey)->is_string()) {
    const std::string who = *keys.text(kKey);
    if (who != "all" && who != "vision") {
      keys.fail(kKey, fmt::format("= {} is neither 'all' nor 'vision'", keys.shown_value(kKey)));
    }
    if (who == "vision") keys.warn("tokens of an image see each other both ways; text is causal");
    sees_both_sides = who == "all";
  } else {
    sees_both_sides = keys.flag(kKey) == true;
    if (sees_both_sides && architecture.both_ways != BothWays::flag) {
      keys.fail(kKey, fmt::format("is true, and what becomes of the window of {} then is not "
                                  "established",
                                  keys.architecture()));
    }
  }
  if (sees_both_sides) keys.origin("keys that a query sees", "on both sides", keys.shown(kKey));
  return sees_both_sides;
}

}  // namespace swa
