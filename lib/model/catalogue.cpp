#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "error.hpp"
#include "model/model.hpp"
#include "problem/toml_table.hpp"

namespace swa {
namespace {

Index count_or(const TomlTable& table, std::string_view key, Index usual) {
  return table.has(key) ? table.count(key, 1, kMaxModelWidth) : usual;
}

std::string text_or_nothing(const TomlTable& table, std::string_view key) {
  return table.has(key) ? table.text(key) : "";
}

std::optional<double> real_or_nothing(const TomlTable& table, std::string_view key) {
  if (!table.has(key)) return std::nullopt;
  return table.real(key);
}

// The rows of a layer with and without a window, without the window itself.
struct Rows {
  Layer local, global;
};

Rows read_rows(const TomlTable& table) {
  Rows rows;
  if (table.has("latent")) {
    rows.local.kv_heads = 1;
    rows.local.head_dim_k = table.count("latent", 1, kMaxModelWidth);
    rows.local.latent = true;
    rows.global = rows.local;
    return rows;
  }
  rows.local.kv_heads = table.count("kv_heads", 1, kMaxModelWidth);
  rows.local.head_dim_k = table.count("head_dim", 1, kMaxModelWidth);
  rows.local.head_dim_v = count_or(table, "head_dim_v", rows.local.head_dim_k);
  rows.global.kv_heads = count_or(table, "kv_heads_global", rows.local.kv_heads);
  rows.global.head_dim_k = count_or(table, "head_dim_global", rows.local.head_dim_k);
  const bool same = rows.global.head_dim_k == rows.local.head_dim_k;
  rows.global.head_dim_v = same ? rows.local.head_dim_v : rows.global.head_dim_k;
  return rows;
}

Window read_window(const TomlTable& table, bool encoder) {
  if (table.has("chunk")) return Window::chunked(table.count("chunk", 1, kMaxIndex));
  const Index width = table.count("window", 1, kMaxIndex);
  if (!encoder) return Window::causal(width);
  return symmetric(width);
}

// Layer i has the kind pattern[i mod its length].
std::vector<Layer> read_layers(const TomlTable& table, bool encoder) {
  const std::string pattern = table.text("pattern");
  const Index layers = table.count("layers", 1, kMaxModelLayers);
  const Index own =
      table.has("shared_layers") ? layers - table.count("shared_layers", 1, layers - 1) : layers;
  const auto compress =
      table.has("compress") ? table.counts("compress", 0, kMaxIndex) : std::vector<Index>();
  if (!compress.empty() && compress.size() != static_cast<std::size_t>(layers)) {
    table.fail("compress", fmt::format("has {} entries for {} layers", compress.size(), layers));
  }
  const Rows rows = read_rows(table);
  std::vector<Layer> result;
  for (Index i = 0; i < layers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const char kind = pattern[at % pattern.size()];
    Layer layer = kind == 'G' ? rows.global : rows.local;
    if (kind == 'L') {
      layer.window = read_window(table, encoder);
    } else if (kind == 'S') {
      layer = Layer{};
      layer.keeps = Keeps::none;
    } else if (kind != 'G') {
      table.fail("pattern", "may hold only L, G and S");
    }
    if (i >= own && layer.has_cache()) layer.keeps = Keeps::shared;
    if (!compress.empty()) layer.compress = compress[at];
    result.push_back(layer);
  }
  return result;
}

Model read_model(const TomlTable& table) {
  table.refuse_other_keys({"id",
                           "title",
                           "hf_id",
                           "architecture",
                           "aliases",
                           "unknown",
                           "layers",
                           "pattern",
                           "shared_layers",
                           "window",
                           "chunk",
                           "compress",
                           "kv_heads",
                           "kv_heads_global",
                           "head_dim",
                           "head_dim_v",
                           "head_dim_global",
                           "latent",
                           "max_positions",
                           "encoder",
                           "hypothetical",
                           "rope_theta_local",
                           "rope_theta_global",
                           "softcap_attention",
                           "softcap_final",
                           "sinks",
                           "nope",
                           "source",
                           "sure",
                           "note",
                           "caveat"});
  Model model;
  model.id = table.text("id");
  if (!is_plain_word(model.id)) {
    table.fail("id", fmt::format("= '{}' may hold only A-Z a-z 0-9 . _ -", model.id));
  }
  model.title = table.text("title");
  model.hf_id = text_or_nothing(table, "hf_id");
  model.architecture = text_or_nothing(table, "architecture");
  if (table.has("aliases")) model.aliases = table.texts("aliases");
  model.hypothetical = table.flag("hypothetical", false);
  model.encoder = table.flag("encoder", false);
  if (table.has("max_positions")) model.max_positions = table.count("max_positions", 1, kMaxIndex);
  model.rope_theta_local = real_or_nothing(table, "rope_theta_local");
  model.rope_theta_global = real_or_nothing(table, "rope_theta_global");
  model.softcap_attention = real_or_nothing(table, "softcap_attention");
  model.softcap_final = real_or_nothing(table, "softcap_final");
  model.sinks = text_or_nothing(table, "sinks");
  model.nope = text_or_nothing(table, "nope");
  model.source = table.text("source");
  model.sure = text_or_nothing(table, "sure");
  model.note = text_or_nothing(table, "note");
  model.caveat = text_or_nothing(table, "caveat");
  if (table.has("unknown")) {
    model.unknown = table.texts("unknown");
  } else {
    model.layers = read_layers(table, model.encoder);
  }
  return model;
}

}  // namespace

std::vector<Model> read_catalogue(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code trouble;
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(folder, trouble)) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
  }
  if (trouble) {
    throw UsageError(
        fmt::format("the model catalogue {} cannot be read: {}", folder, trouble.message()));
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Model> models;
  for (const std::string& path : paths) {
    for_each_table(path, "model", [&](const TomlTable& table) {
      const Model model = read_model(table);
      const bool known = std::any_of(models.begin(), models.end(),
                                     [&](const Model& other) { return other.id == model.id; });
      if (known) table.fail("id", fmt::format("= {} stands twice in the catalogue", model.id));
      models.push_back(model);
    });
  }
  if (models.empty()) {
    throw UsageError(fmt::format("the model catalogue {} is empty", folder),
                     "put a .toml file with [[model]] tables there");
  }
  return models;
}

}  // namespace swa
