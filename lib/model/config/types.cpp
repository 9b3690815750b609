// layer_types, lists of windows, and sliding_window_pattern.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/config/rules.hpp"
#include "tensor/source.hpp"

namespace swa {
namespace {

constexpr std::array<std::pair<std::string_view, Sees>, 10> kTypes = {{
    {"sliding_attention", Sees::window},
    {"full_attention", Sees::all},
    {"attention", Sees::all},
    {"chunked_attention", Sees::chunk},
    {"linear_attention", Sees::nothing},
    {"mamba", Sees::nothing},
    {"conv", Sees::nothing},
    {"recurrent", Sees::nothing},
    {"moe", Sees::nothing},
    {"mlp", Sees::nothing},
}};

Sees seen_by(const ConfigKeys& keys, std::string_view key, const std::string& word) {
  for (const auto& [type, sees] : kTypes) {
    if (type == word) return sees;
  }
  keys.fail(key, fmt::format("has the entry {}, which is not known for {}", quote(word),
                             keys.architecture()));
}

constexpr std::string_view kPatternKeys[] = {"sliding_window_pattern", "_sliding_window_pattern"};

// Letters, repeated over the layers.
std::vector<Sees> pattern_of_letters(ConfigKeys& keys, std::string_view key, Index layers) {
  const std::string letters = keys.text(key).value();
  std::vector<Sees> pattern;
  for (const char letter : letters) {
    if (letter != 'L' && letter != 'G') {
      keys.fail(key, fmt::format("= {} may hold only L and G", quote(letters)));
    }
    pattern.push_back(letter == 'L' ? Sees::window : Sees::all);
  }
  if (pattern.empty()) keys.fail(key, "is empty");
  keys.origin("layers that see all keys", fmt::format("G of {}, repeated", quote(letters)),
              keys.shown(key));
  std::vector<Sees> sees = repeated(layers, pattern);
  if (sees.back() == Sees::window) {
    keys.warn(
        fmt::format("{} = {} ends with a local layer: some runtimes make the last layer "
                    "global whatever the pattern says",
                    keys.shown(key), quote(letters)));
  }
  return sees;
}

// Where layer_types is there, it wins over all that says the same in another way.
void compare_with_others(ConfigKeys& keys, const std::vector<Sees>& sees) {
  for (const std::string_view key : kPatternKeys) {
    const nlohmann::json* stated = keys.peek(key);
    if (stated == nullptr || !stated->is_number_integer()) continue;
    const Index p = keys.count(key, 1, kMaxIndex).value();
    if (sees != all_last_of_each(static_cast<Index>(sees.size()), p)) {
      keys.warn(
          fmt::format("layer_types and {} = {} disagree: layer_types is used", keys.shown(key), p));
    }
  }
  for (const char* key :
       {"sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers",
        "layer_switch", "order_of_interleaved_layers", "max_window_layers", "sliding_windows",
        "interleaved_sliding_window", "full_attention_interval", "full_attn_idxs",
        "hybrid_layer_pattern", "hybrid_override_pattern", "attn_type_list",
        "sliding_window_layout"}) {
    keys.ignore(key, "layer_types says what each layer sees");
  }
}

// A switch that is off takes the window from layers that layer_types gives one.
void check_switch(ConfigKeys& keys, const Architecture& architecture) {
  constexpr std::string_view kKey = "use_sliding_window";
  if (!architecture.reads_switch) return;
  const std::optional<bool> on = keys.flag(kKey);
  const bool is_off = architecture.has_switch ? on != true : on == false;
  if (!is_off) return;
  keys.fail(kKey,
            fmt::format("is {}, and 'layer_types' has sliding_attention",
                        on ? "false" : "missing, so false by default"),
            "say in both whether there is a window");
}

// Cohere states its pattern in further keys, which transformers does not read.
void check_copies(ConfigKeys& keys, const ConfigKeys::Named& p) {
  const std::string contradiction =
      fmt::format("contradicts '{}' = {}, where the last of each {} layers sees all keys",
                  keys.shown(p.key), p.value, p.value);
  if (const auto again = keys.count("layer_switch", 1, kMaxIndex); again && *again != p.value) {
    keys.fail("layer_switch", fmt::format("= {} {}", *again, contradiction));
  }
  constexpr std::string_view kOrder = "order_of_interleaved_layers";
  if (const auto order = keys.text(kOrder); order && *order != "local_attn_first") {
    keys.fail(kOrder, fmt::format("= {} {}", keys.shown_value(kOrder), contradiction));
  }
  for (const std::string_view key : {std::string_view("layer_switch"), kOrder}) {
    keys.ignore(key, "a copy of the pattern, which transformers does not read");
  }
}

}  // namespace

void say_plan(const ConfigKeys& keys, const LayerPlan& plan, std::string_view key) {
  const auto all = std::count(plan.sees.begin(), plan.sees.end(), Sees::all);
  keys.origin("layers that see all keys", fmt::format("{} of {}", all, plan.sees.size()),
              keys.shown(key));
}

std::optional<std::vector<Sees>> pattern_of_key(ConfigKeys& keys, Index layers) {
  for (const std::string_view key : kPatternKeys) {
    const nlohmann::json* stated = keys.peek(key);
    if (stated != nullptr && stated->is_string()) return pattern_of_letters(keys, key, layers);
  }
  const auto p = keys.count_of({kPatternKeys[0], kPatternKeys[1]}, 1, kMaxIndex);
  if (!p) return std::nullopt;
  check_copies(keys, *p);
  keys.origin("layers that see all keys", fmt::format("the last of each {}", p->value),
              keys.shown(p->key));
  return all_last_of_each(layers, p->value);
}

LayerPlan plan_of_windows(ConfigKeys& keys, std::string_view key, std::vector<Index> windows,
                          Index layers) {
  keys.one_each(key, windows, layers);
  LayerPlan plan;
  for (const Index window : windows) {
    if (window > kMaxIndex) keys.fail(key, fmt::format("has the entry {}, above 2^60", window));
    plan.sees.push_back(window > 0 ? Sees::window : Sees::all);
  }
  plan.windows = std::move(windows);
  keys.origin("window", keys.shown_value(key), keys.shown(key));
  return plan;
}

std::optional<LayerPlan> listed_plan(ConfigKeys& keys, const Architecture& architecture,
                                     Index layers) {
  if (keys.has("layer_types") && !architecture.own_types) {
    std::vector<std::string> types = *keys.words("layer_types");
    keys.one_each("layer_types", types, layers);
    LayerPlan plan;
    for (const std::string& type : types) plan.sees.push_back(seen_by(keys, "layer_types", type));
    if (architecture.last_sees_all && plan.sees.back() != Sees::all) {
      keys.warn(
          fmt::format("layer_types does not end with full_attention, which transformers "
                      "gives the last layer of {} all the same",
                      keys.architecture()));
      plan.sees.back() = Sees::all;
    }
    say_plan(keys, plan, "layer_types");
    compare_with_others(keys, plan.sees);
    if (plan.has(Sees::window)) check_switch(keys, architecture);
    return plan;
  }
  for (const char* key : {"interleaved_sliding_window", "sliding_window"}) {
    if (!keys.has(key) || !keys.peek(key)->is_array()) continue;
    const std::vector<Index> pattern = *keys.widths(key);
    if (pattern.empty()) keys.fail(key, "is empty");
    std::vector<Index> windows;
    for (Index i = 0; i < layers; ++i) {
      windows.push_back(pattern[static_cast<std::size_t>(i) % pattern.size()]);
    }
    return plan_of_windows(keys, key, windows, layers);
  }
  return std::nullopt;
}

}  // namespace swa
