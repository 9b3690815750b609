#include "model/gguf/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "error.hpp"
#include "model/gguf/layers.hpp"
#include "model/reading.hpp"
#include "tensor/source.hpp"

namespace swa {
namespace {

using Json = nlohmann::json;

// Keys that change what is cached, in ways of their own: an architecture that is not known and has
// one of them is refused.
constexpr std::string_view kDecisive[] = {"attention.compress_ratios",
                                          "attention.indexer.",
                                          "attention.key_length_swa",
                                          "attention.kv_lora_rank",
                                          "attention.recurrent_layers",
                                          "attention.shared_kv_layers",
                                          "attention.sliding_window",
                                          "attention.value_length_swa",
                                          "decoder_block_count",
                                          "full_attention_interval",
                                          "kda.",
                                          "num_loops",
                                          "shortconv.",
                                          "ssm.",
                                          "wkv."};

struct Unused {
  std::string_view key, reason;
};
constexpr Unused kUnused[] = {
    {"attention.sliding_window", "llama.cpp computes this architecture without it"},
    {"attention.sliding_window_pattern", "no layer is local, or all are"},
    {"attention.shared_kv_layers", "llama.cpp shares no caches in this architecture"},
    {"attention.key_length_swa", "no layer is local"},
    {"attention.value_length_swa", "no layer is local"},
    {"attention.key_length_mla", "the latent row is cached, not the keys made from it"},
    {"attention.value_length_mla", "the latent row is cached, not the values made from it"},
    {"rope.freq_base_swa", "no layer is local"},
    {"attention.head_count", "heads of queries take no memory"},
    {"full_attention_interval", "a list says which layers have attention"},
};

// Nothing where the key is missing; refuses what is no string that is short.
std::optional<std::string> text(const GgufHeader& header, const std::string& key,
                                const std::string& path) {
  const auto found = header.find(key);
  if (found == header.end()) return std::nullopt;
  if (!found->second.value.is_string()) {
    throw UsageError(fmt::format("{}: '{}' is no short string", path, key),
                     "convert the model again");
  }
  return found->second.value.get<std::string>();
}

// Refuses files of the format that describe no model.
void check_kind(const GgufHeader& header, const std::string& path) {
  const auto part = header.find("split.no");
  if (part != header.end() && part->second.value != 0) {
    throw UsageError(fmt::format("{}: that is a later part of a model in several files", path),
                     "give the first part: it has the header of the model");
  }
  const std::string kind = text(header, "general.type", path).value_or("model");
  const std::string architecture = text(header, "general.architecture", path).value_or("");
  if (kind != "model" || architecture == "clip") {
    throw UsageError(fmt::format("{}: that holds {}, not a language model", path,
                                 quote(kind == "model" ? architecture : kind)),
                     "give the file of the model itself");
  }
  if (architecture.empty() || architecture.size() > 64 || !is_plain_word(architecture)) {
    throw UsageError(fmt::format("{}: 'general.architecture' is missing or no name", path),
                     "convert the model again");
  }
}

// The keys of one architecture, without its name. What was too long to be kept is there as what it
// is, so that it is refused where it is needed.
Json keys_of(const GgufHeader& header, const std::string& prefix) {
  Json keys = Json::object();
  for (auto entry = header.lower_bound(prefix);
       entry != header.end() && entry->first.starts_with(prefix); ++entry) {
    const auto& [type, value] = entry->second;
    Json& key = keys[entry->first.substr(prefix.size())];
    key = value.is_null() ? Json(type) : value;
    if (!key.is_array()) continue;
    for (Json& element :
         key) {  // flags of layers are 0 and 1 in one architecture, booleans in others
      if (element.is_boolean()) element = element.get<bool>() ? 1 : 0;
    }
  }
  return keys;
}

// The name of the file as a plain word.
std::string word_of(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  if (name.ends_with(".gguf")) name.resize(name.size() - 5);
  const std::string word = plain_word(name);
  return word.empty() ? "model" : word;
}

// Where it fits onto a line; files without a good name are common.
std::optional<std::string> title_of(const GgufHeader& header) {
  const auto found = header.find("general.name");
  if (found == header.end() || !found->second.value.is_string()) return std::nullopt;
  const auto title = found->second.value.get<std::string>();
  const bool fits =
      !title.empty() && title.size() <= 200 &&
      std::none_of(title.begin(), title.end(), [](char c) { return 0 <= c && c < ' '; });
  return fits ? std::optional(title) : std::nullopt;
}

void refuse_what_decides(const GgufKeys& keys, const std::string& architecture) {
  for (const std::string& key : keys.unread()) {
    const bool decides =
        std::any_of(std::begin(kDecisive), std::end(kDecisive),
                    [&](std::string_view start) { return key.starts_with(start); });
    if (decides) {
      keys.fail(key,
                fmt::format("decides what is cached, and how it does in the architecture {} "
                            "is not known",
                            quote(architecture)),
                "give the config.json of the model");
    }
  }
  keys.warn(
      fmt::format("the architecture {} is not known: every layer is taken to attend to all "
                  "tokens, since no key says otherwise",
                  quote(architecture)));
}

std::optional<double> real(GgufKeys& keys, std::string_view key, const std::string& quantity) {
  const std::optional<double> number = keys.positive(key);
  if (number) keys.say(quantity, fmt::format("{}", *number), key);
  return number;
}

void read_facts(GgufKeys& keys, Model& model) {
  constexpr std::string_view kBase = "rope.freq_base", kLocalBase = "rope.freq_base_swa";
  model.max_positions = keys.count("context_length", 1, kMaxIndex);
  if (model.max_positions) {
    keys.origin("largest context", *model.max_positions, keys.source("context_length"));
  }
  const bool has_local = model.local_layers() > 0;
  if (has_local) model.rope_theta_local = real(keys, kLocalBase, "RoPE theta, local");
  // Without a base of their own, local layers have one that depends on the architecture.
  const std::optional<double> base = keys.positive(kBase);
  if (base && (model.rope_theta_local || !has_local)) {
    model.rope_theta_global = real(keys, kBase, "RoPE theta, global");
  }
  model.softcap_attention = real(keys, "attn_logit_softcapping", "softcap of scores");
  model.softcap_final = real(keys, "final_logit_softcapping", "softcap of final logits");
}

void warn_of_windows(const GgufKeys& keys, const GgufArchitecture& rule, const Model& model) {
  if (!rule.warning.empty() &&
      (rule.local == GgufArchitecture::Local::none || model.local_layers() > 0)) {
    keys.warn(std::string(rule.warning));
  }
  const auto local = std::find_if(model.layers.begin(), model.layers.end(),
                                  [](const Layer& layer) { return layer.is_local(); });
  if (local == model.layers.end()) return;
  if (rule.name == "smallthinker" && local->window.width != 4096) {
    keys.warn("llama.cpp computes smallthinker with a window of 4096, whatever the header says");
  }
}

}  // namespace

ConfigReading model_from_gguf(const GgufHeader& header, const std::string& path) {
  check_kind(header, path);
  const std::string architecture = *text(header, "general.architecture", path);
  const std::string prefix = architecture + ".";
  const Json object = keys_of(header, prefix);
  ConfigReading reading;
  GgufKeys keys(object, path, prefix, architecture, reading);
  static constexpr GgufArchitecture kUnknown{};
  const GgufArchitecture* known = find_gguf_architecture(architecture);
  if (known == nullptr) refuse_what_decides(keys, architecture);
  const GgufArchitecture& rule = known != nullptr ? *known : kUnknown;

  keys.origin("architecture", architecture, "general.architecture (GGUF header)");
  Model& model = reading.model;
  model.layers = read_gguf_layers(keys, rule);
  read_gguf_windows(keys, rule, model.layers);
  read_facts(keys, model);
  model.encoder = rule.encoder || !keys.flag("attention.causal").value_or(true);
  model.id = word_of(path);
  model.title = title_of(header).value_or(model.id);
  model.architecture = rule.model_type.empty() ? architecture : std::string(rule.model_type);
  model.source = "GGUF header";
  model.sure = "gguf";
  warn_of_windows(keys, rule, model);
  warn_where_never_binding(keys, model);
  const std::vector<std::string> unread = keys.unread();
  for (const auto& [key, reason] : kUnused) {
    if (std::find(unread.begin(), unread.end(), key) != unread.end()) keys.ignore(key, reason);
  }
  return reading;
}

ConfigReading read_gguf(const std::string& path) {
  return model_from_gguf(read_gguf_header(Source(path)), path);
}

}  // namespace swa
