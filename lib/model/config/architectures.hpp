// What the name of an architecture decides about a model's layers, beside the keys of its config.
#pragma once

#include <optional>
#include <string_view>

#include "model/config/layers.hpp"
#include "model/keys.hpp"

namespace swa {

struct Architecture;

// The plan of a config that has no layer_types: from the keys that the architecture knows, else
// from its default. Throws UsageError where neither decides it.
using LayerRule = LayerPlan (*)(ConfigKeys& keys, const Architecture& architecture, Index layers);

// The keys that state the heads of layers with a window apart from those that see all keys.
enum class HeadKeys {
  same,            // the heads of all layers are alike
  of_full_layers,  // global_head_dim and num_global_key_value_heads
  swa_first,       // swa_num_key_value_heads, swa_head_dim, swa_v_head_dim
  swa_inside,      // num_swa_attention_heads, num_swa_key_value_heads
  other_setting,   // the object attention_other_setting
  one_row,         // one row of head_dim elements for keys and values of all heads
};

// What use_bidirectional_attention makes of a model.
enum class BothWays {
  unknown,  // nobody has established it
  flag,     // true: an encoder
  words,    // "all": an encoder; "vision": tokens of an image alone see each other both ways
};

// The defaults are those of the class that reads the config; 0 where a config has to state it.
struct Architecture {
  std::string_view names = {};  // of model_type, with blanks between
  LayerRule rule = nullptr;
  bool reads_switch = true;  // use_sliding_window = false takes the window from all layers
  Index period = 0;          // of the rule's pattern
  std::string_view window_key = "sliding_window";
  std::optional<Index> window = {};  // default; 0: none; nothing: a config has to state it
  Index heads = 0, kv_heads = 0, head_dim = 0, max_positions = 0;
  HeadKeys head_keys = HeadKeys::same;
  bool shares = false;         // knows num_kv_shared_layers,
  Index shared_layers = 0;     // and this is its default
  bool own_types = false;      // has words of its own in layer_types
  bool last_sees_all = false;  // whatever layer_types says
  bool reuses_groups = false;  // knows kv_reuse_group
  BothWays both_ways = BothWays::unknown;
  bool has_switch = false;  // without use_sliding_window = true no layer has a window
  bool encoder = false;
  double theta_local = 0, theta_global = 0, softcap_attention = 0, softcap_final = 0;
  std::string_view sinks = {};
  bool nope_global = false;    // layers that see all keys have no rotary embedding
  std::string_view note = {};  // what readers of models with windows dispute
};

// nullptr for a name that is not known.
const Architecture* find_architecture(std::string_view model_type);
// For a config whose model_type is not known: only keys that mean the same everywhere are read.
const Architecture& unknown_architecture();

}  // namespace swa
