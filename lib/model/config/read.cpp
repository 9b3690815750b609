#include "model/config.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "error.hpp"
#include "model/config/json.hpp"
#include "model/config/parts.hpp"
#include "model/config/rules.hpp"
#include "model/reading.hpp"
#include "tensor/source.hpp"

namespace swa {
namespace {

using Json = nlohmann::json;

const std::string kRemedy = "give the config.json that the publisher wrote";

// The last part of _name_or_path, the folder of a file that is named config.json, or else the name
// of the file.
std::string model_id(const Json& config, const std::string& path) {
  namespace fs = std::filesystem;
  if (const auto found = config.find("_name_or_path");
      found != config.end() && found->is_string()) {
    std::string_view name = found->get_ref<const std::string&>();
    while (name.ends_with('/')) name.remove_suffix(1);
    const std::string word = plain_word(name.substr(name.rfind('/') + 1));
    if (!word.empty()) return word;
  }
  const fs::path file(path);
  std::error_code trouble;
  const fs::path folder = fs::absolute(file, trouble).parent_path().filename();
  const bool is_common = file.filename() == "config.json" && !trouble;
  const std::string word =
      plain_word((is_common && !folder.empty() ? folder : file.stem()).string());
  return word.empty() ? "model" : word;
}

// Where the text model is described, and how the file calls its keys.
struct TextModel {
  const Json* object;
  std::string prefix;
  std::string model_type;  // of the object, or else of the nearest around it,
  std::string type_from;   // where that one is
};

TextModel find_text_model(const Json& config, const std::string& path) {
  TextModel text{&config, "", "", "model_type"};
  while (true) {
    if (const auto type = text.object->find("model_type");
        type != text.object->end() && !type->is_null()) {
      if (!type->is_string()) {
        throw UsageError(fmt::format("{}: '{}model_type' is not a string", path, text.prefix),
                         kRemedy);
      }
      text.model_type = plain_word(type->get_ref<const std::string&>());
      text.type_from = text.prefix + "model_type";
    }
    std::string_view inner;
    for (const std::string_view key : {"text_config", "llm_config", "language_config"}) {
      const auto found = text.object->find(key);
      if (found == text.object->end() || found->is_null()) continue;
      if (!found->is_object()) {
        throw UsageError(fmt::format("{}: '{}{}' is not an object", path, text.prefix, key),
                         kRemedy);
      }
      if (!inner.empty()) {
        throw UsageError(fmt::format("{}: '{}{}' and '{}{}' both describe a text model", path,
                                     text.prefix, inner, text.prefix, key),
                         "keep the one that holds");
      }
      inner = key;
    }
    if (inner.empty()) return text;
    text.prefix += fmt::format("{}.", inner);
    text.object = &*text.object->find(inner);
  }
}

Window window_of(Sees sees, const std::optional<Index>& width, bool encoder) {
  if (sees == Sees::all || sees == Sees::nothing || !width) return Window::global();
  if (encoder) return symmetric(*width);
  return sees == Sees::chunk ? Window::chunked(*width) : Window::causal(*width);
}

// The layers without their heads.
std::vector<Layer> lay_out(ConfigKeys& keys, const Architecture& architecture,
                           const LayerPlan& plan, bool encoder) {
  std::optional<Index> window, chunk;
  if (plan.has(Sees::window) && plan.windows.empty()) {
    window = read_window(keys, architecture, plan);
  }
  if (window && encoder) {
    keys.origin("window to each side", *window / 2, "half of the window of an encoder");
  }
  if (plan.has(Sees::chunk)) chunk = read_chunk(keys, architecture);
  std::vector<Layer> layers(plan.sees.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Sees sees = plan.sees[i];
    if (!plan.windows.empty() && sees == Sees::window) window = plan.windows[i];
    layers[i].window = window_of(sees, sees == Sees::chunk ? chunk : window, encoder);
    if (sees == Sees::nothing) layers[i].keeps = Keeps::none;
    if (!plan.compress.empty()) layers[i].compress = plan.compress[i];
  }
  return layers;
}

LayerPlan find_plan(ConfigKeys& keys, const Architecture& architecture, Index layers) {
  if (auto listed = listed_plan(keys, architecture, layers)) return *listed;
  return architecture.rule(keys, architecture, layers);
}

ConfigReading model_from_config(const Json& config, const std::string& path) {
  ConfigReading reading;
  Model& model = reading.model;
  const TextModel text = find_text_model(config, path);
  ConfigKeys keys(*text.object, path, text.prefix, text.model_type, reading);
  model.id = model.title = model_id(config, path);
  model.architecture = text.model_type;
  model.source = path;
  model.sure = "config";
  const Architecture* known = find_architecture(text.model_type);
  const Architecture& architecture = known != nullptr ? *known : unknown_architecture();
  const bool is_own = text.type_from == text.prefix + "model_type";
  keys.origin("architecture", keys.architecture(),
              is_own ? keys.shown("model_type") : text.type_from);

  const auto layers =
      keys.count_of({"num_hidden_layers", "num_layers", "n_layer"}, 1, kMaxModelLayers);
  if (!layers) keys.fail("num_hidden_layers", "is missing");
  keys.origin("layers", layers->value, keys.shown(layers->key));
  const auto positions =
      keys.count_of({"max_position_embeddings", "model_max_length"}, 1, kMaxIndex);
  if (positions) model.max_positions = positions->value;
  if (!positions && architecture.max_positions > 0) {
    model.max_positions = architecture.max_positions;
  }
  if (model.max_positions) {
    keys.origin("largest context", *model.max_positions,
                positions ? keys.shown(positions->key) : keys.class_default());
  }

  if (known == nullptr) check_unknown(keys);
  const LayerPlan plan = find_plan(keys, architecture, layers->value);
  model.encoder = is_encoder(keys, architecture);
  model.layers = lay_out(keys, architecture, plan, model.encoder);
  warn_where_never_binding(keys, model);
  read_heads(keys, architecture, plan, model.layers);
  read_sharing(keys, architecture, plan, model.layers);
  read_facts(keys, architecture, model);
  if (!architecture.note.empty() && model.local_layers() > 0) {
    keys.warn(std::string(architecture.note));
  }
  note_quantized_cache(keys);
  if (text.object != &config) {
    ConfigKeys around(config, path, "", text.model_type, reading);
    note_quantized_cache(around);
  }
  note_ignored(keys);
  return reading;
}

}  // namespace

ConfigReading read_config_text(const std::string& json, const std::string& path) {
  return model_from_config(parse_config(json, path), path);
}

ConfigReading read_config(const std::string& path) {
  constexpr Index kMaxBytes = Index{16} << 20;
  const Source file(path);
  if (file.size() > kMaxBytes) file.refuse("that has more than 16 MiB", kRemedy);
  return read_config_text(file.text(0, file.size()), path);
}

}  // namespace swa
