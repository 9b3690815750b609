#include <fmt/format.h>

#include <algorithm>

#include "model/gguf/layers.hpp"
#include "model/reading.hpp"

namespace swa {
namespace {

using Local = GgufArchitecture::Local;
using Plan = GgufArchitecture::Plan;

constexpr std::string_view kWindow = "attention.sliding_window",
                           kPattern = "attention.sliding_window_pattern",
                           kShared = "attention.shared_kv_layers";
const std::string kSeeAll = "layers that see all keys";

// exaone4 is the one architecture whose defaults hold for one size alone.
bool has_defaults(const GgufArchitecture& rule, Index layers) {
  return rule.name != "exaone4" || layers == 64;
}

// W or the size of a chunk; nothing where no layer is local.
std::optional<Index> local_width(GgufKeys& keys, const GgufArchitecture& rule, Index layers) {
  const bool chunked = rule.local == Local::chunked;
  const bool required = rule.window == GgufArchitecture::kRequired;
  const std::string quantity = chunked ? "chunk" : "window";
  const auto stated = keys.count(kWindow, required ? 1 : 0, kMaxIndex);
  if (stated == 0) {
    keys.say(quantity, "none", kWindow);
    return std::nullopt;
  }
  if (stated && !chunked) {
    keys.say(quantity, fmt::format("{}", *stated), kWindow);
    return stated;
  }
  if (required) keys.fail(kWindow, "is missing");
  if (rule.window == 0 || !has_defaults(rule, layers)) {
    keys.origin(quantity, "none", fmt::format("no {} in the GGUF header", keys.shown(kWindow)));
    return std::nullopt;
  }
  if (chunked) {
    keys.warn(
        fmt::format("chunks have {} tokens in llama.cpp, whatever the header says", rule.window));
  }
  keys.origin(quantity, rule.window, default_of(rule));
  return rule.window;
}

// 1 for each layer that is local where of `period` layers one is global, 0 for that one. With a
// period of 0 all are local.
std::vector<Index> periodic(const GgufArchitecture& rule, Index period, Index layers) {
  const Index global = rule.plan == Plan::first_global ? 0 : period - 1;
  std::vector<Index> local;
  for (Index i = 0; i < layers; ++i) local.push_back(period == 0 || i % period != global);
  return local;
}

// The layers that see all keys.
std::string describe(const GgufArchitecture& rule, Index period) {
  if (period == 0) return "none";
  return fmt::format("the {} of each {}", rule.plan == Plan::first_global ? "first" : "last",
                     period);
}

std::vector<Index> listed(GgufKeys& keys, const GgufArchitecture& rule, Index usual_period,
                          Index layers) {
  std::vector<Index> local = *keys.each(kPattern, layers, 0, 1);
  const auto global = std::count(local.begin(), local.end(), 0);
  keys.say(kSeeAll, fmt::format("{} of {}", global, layers), kPattern);
  // Where llama.cpp has a period of its own it reads no list.
  if (rule.period > 0 && (usual_period == 0 || local != periodic(rule, usual_period, layers))) {
    keys.warn(
        fmt::format("llama.cpp does not read the list {}, and places the local layers of {} "
                    "by a rule of its own",
                    keys.shown(kPattern), rule.name));
  }
  return local;
}

std::vector<Index> local_layers(GgufKeys& keys, const GgufArchitecture& rule, Index layers) {
  if (rule.plan == Plan::every) {
    keys.origin(kSeeAll, "none", fmt::format("the architecture {}", rule.name));
    return periodic(rule, 0, layers);
  }
  const Index usual_period = has_defaults(rule, layers) ? rule.period : 0;
  if (keys.is_list(kPattern)) return listed(keys, rule, usual_period, layers);
  if (keys.has(kPattern)) {
    if (rule.plan == Plan::listed) keys.fail(kPattern, "is not a list of layers");
    const Index period = *keys.count(kPattern, 0, kMaxModelLayers);
    keys.say(kSeeAll, describe(rule, period), kPattern);
    return periodic(rule, period, layers);
  }
  if (usual_period == 0) keys.fail(kPattern, "is missing");
  keys.origin(kSeeAll, describe(rule, usual_period), default_of(rule));
  return periodic(rule, usual_period, layers);
}

Window local_window(const GgufArchitecture& rule, Index width) {
  switch (rule.local) {
    case Local::chunked:
      return Window::chunked(width);
    case Local::symmetric:
      return symmetric(width);
    default:
      return Window::causal(width);
  }
}

// Of local layers, where the header states them apart.
Index head_dim(GgufKeys& keys, const std::string& quantity, std::string_view key, Index of_others) {
  const auto stated = keys.count(key, 1, kMaxModelWidth);
  if (!stated) return of_others;
  keys.say(quantity, fmt::format("{}", *stated), key);
  return *stated;
}

void read_windows(GgufKeys& keys, const GgufArchitecture& rule, std::vector<Layer>& layers) {
  const auto count = static_cast<Index>(layers.size());
  const auto width = local_width(keys, rule, count);
  if (!width) return;
  const std::vector<Index> local = local_layers(keys, rule, count);
  const Index of_keys =
      head_dim(keys, "head_dim of K, local", "attention.key_length_swa", layers.front().head_dim_k);
  const Index of_values = head_dim(keys, "head_dim of V, local", "attention.value_length_swa",
                                   layers.front().head_dim_v);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (local[i] == 0) continue;
    layers[i].window = local_window(rule, *width);
    layers[i].head_dim_k = of_keys;
    layers[i].head_dim_v = of_values;
  }
}

// The last layers read the cache of the last layer before them that is of their kind.
void share(GgufKeys& keys, const GgufArchitecture& rule, std::vector<Layer>& layers) {
  const auto count = static_cast<Index>(layers.size());
  const Index usual = rule.owners > 0 ? larger(0, count - rule.owners) : 0;
  const auto stated = keys.count(kShared, 0, count - 1);
  const Index shared = stated.value_or(usual);
  keys.origin("layers that share a cache", shared > 0 ? fmt::format("the last {}", shared) : "none",
              stated ? keys.source(kShared) : default_of(rule));
  if (rule.owners > 0 && shared != usual) {
    keys.warn(fmt::format("llama.cpp gives the first {} layers of {} a cache, whatever {} says",
                          rule.owners, rule.name, keys.shown(kShared)));
  }
  if (const std::optional<Index> orphan = share_last(layers, shared)) {
    keys.fail(kShared, fmt::format("leaves layer {} no cache of its kind to share", *orphan));
  }
}

}  // namespace

void read_gguf_windows(GgufKeys& keys, const GgufArchitecture& rule, std::vector<Layer>& layers) {
  if (rule.local != Local::none) read_windows(keys, rule, layers);
  if (rule.shares) share(keys, rule, layers);
}

}  // namespace swa
