#include <fmt/format.h>

#include "model/config/parts.hpp"

namespace swa {
namespace {

using Base = std::optional<double>;

// The first of the keys that states a base.
Base base_of(ConfigKeys& keys, std::initializer_list<std::string_view> names,
             const std::string& quantity) {
  for (const std::string_view key : names) {
    const nlohmann::json* value = keys.value(key);
    if (value == nullptr || !value->is_number()) continue;
    const double base = keys.real(key).value();
    keys.origin(quantity, fmt::format("{}", base), keys.shown(key));
    return base;
  }
  return std::nullopt;
}

// Newer files keep the bases in rope_parameters, for all layers or for each kind of them.
Base base_in_parameters(ConfigKeys& keys, std::string_view kind, const std::string& quantity) {
  if (!keys.has("rope_parameters") || !keys.peek("rope_parameters")->is_object()) {
    return std::nullopt;
  }
  ConfigKeys parameters = *keys.object("rope_parameters");
  if (parameters.has(kind) && parameters.peek(kind)->is_object()) {
    ConfigKeys of_kind = *parameters.object(kind);
    return base_of(of_kind, {"rope_theta"}, quantity);
  }
  return base_of(parameters, {"rope_theta"}, quantity);
}

// rope_theta with one base for each layer: nothing where layers of a kind differ.
Base base_of_layers(ConfigKeys& keys, const Model& model, bool local, const std::string& quantity) {
  const nlohmann::json* bases = keys.value("rope_theta");
  if (bases == nullptr || !bases->is_array() || bases->size() < model.layers.size()) {
    return std::nullopt;
  }
  Base base;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (local ? !model.layers[i].is_local() : !model.layers[i].is_global()) continue;
    const nlohmann::json& entry = (*bases)[i];
    if (!entry.is_number() || (base && *base != entry.get<double>())) return std::nullopt;
    base = entry.get<double>();
  }
  if (base) keys.origin(quantity, fmt::format("{}", *base), keys.shown("rope_theta"));
  return base;
}

// 0 stands for none.
Base or_default(ConfigKeys& keys, double usual, const std::string& quantity) {
  if (usual == 0) return std::nullopt;
  keys.origin(quantity, fmt::format("{}", usual), keys.class_default());
  return usual;
}

Base local_base(ConfigKeys& keys, const Architecture& architecture, const Model& model) {
  const std::string quantity = "RoPE theta, local";
  if (const Base base = base_in_parameters(keys, "sliding_attention", quantity)) return base;
  if (const Base base =
          base_of(keys, {"rope_local_base_freq", "local_rope_theta", "swa_rope_theta"}, quantity)) {
    return base;
  }
  if (const Base base = base_of_layers(keys, model, true, quantity)) return base;
  // Where the architecture has two bases, rope_theta is not the local one.
  const bool has_two =
      architecture.theta_global != 0 && architecture.theta_local != architecture.theta_global;
  if (!has_two) {
    if (const Base base = base_of(keys, {"rope_theta"}, quantity)) return base;
  }
  return or_default(keys, architecture.theta_local, quantity);
}

Base global_base(ConfigKeys& keys, const Architecture& architecture, const Model& model) {
  const std::string quantity = "RoPE theta, global";
  if (const Base base = base_in_parameters(keys, "full_attention", quantity)) return base;
  if (const Base base = base_of(keys, {"global_rope_theta", "rope_theta"}, quantity)) return base;
  if (const Base base = base_of_layers(keys, model, false, quantity)) return base;
  return or_default(keys, architecture.theta_global, quantity);
}

// Null and 0 stand for no cap, whatever the default.
Base cap(ConfigKeys& keys, std::initializer_list<std::string_view> names, double usual,
         const std::string& quantity) {
  for (const std::string_view key : names) {
    if (!keys.is_there(key)) continue;
    const Base cap = keys.positive(key);
    keys.origin(quantity, cap ? fmt::format("{}", *cap) : "none", keys.shown(key));
    return cap;
  }
  return or_default(keys, usual, quantity);
}

}  // namespace

void read_facts(ConfigKeys& keys, const Architecture& architecture, Model& model) {
  const bool has_local = model.local_layers() > 0, has_global = model.global_layers() > 0;
  const bool has_rotary_global = has_global && !(architecture.nope_global && has_local);
  if (has_local) model.rope_theta_local = local_base(keys, architecture, model);
  if (has_rotary_global) model.rope_theta_global = global_base(keys, architecture, model);
  if (architecture.head_keys == HeadKeys::one_row) {
    model.rope_theta_global = base_of(keys, {"compress_rope_theta"}, "RoPE theta, global");
  }
  model.softcap_attention =
      cap(keys, {"attn_logit_softcapping"}, architecture.softcap_attention, "softcap of scores");
  model.softcap_final = cap(keys, {"final_logit_softcapping", "logits_soft_cap"},
                            architecture.softcap_final, "softcap of final logits");
  constexpr std::string_view kSinks = "add_swa_attention_sink_bias";
  const bool has_sinks = keys.flag(kSinks) == true;
  model.sinks = has_sinks ? "a learned bias on sliding layers" : std::string(architecture.sinks);
  if (!model.sinks.empty()) {
    keys.origin("sinks", model.sinks, has_sinks ? keys.shown(kSinks) : keys.class_default());
  }
  if (has_global && !has_rotary_global) {
    model.nope = "global layers";
    keys.origin("no RoPE", model.nope, keys.class_default());
  }
}

}  // namespace swa
