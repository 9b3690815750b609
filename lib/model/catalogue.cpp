#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "error.hpp"
#include "model/model.hpp"
#include "problem/toml_table.hpp"

namespace swa {
namespace {

constexpr Index kMaxLayers = 10'000;
constexpr Index kMaxWidth = 1'000'000;  // heads, and elements of a head

// Layer i has the kind pattern[i mod its length].
std::vector<Layer> read_layers(const TomlTable& table) {
  const std::string pattern = table.text("pattern");
  const Index layers = table.count("layers", 1, kMaxLayers);
  const Index kv_heads = table.count("kv_heads", 1, kMaxWidth);
  const Index head_dim = table.count("head_dim", 1, kMaxWidth);
  std::vector<Layer> result;
  for (Index i = 0; i < layers; ++i) {
    const char kind = pattern[static_cast<std::size_t>(i) % pattern.size()];
    if (kind != 'L' && kind != 'G') table.fail("pattern", "may hold only L and G");
    const Window window =
        kind == 'L' ? Window::causal(table.count("window", 1, kMaxIndex)) : Window::global();
    result.push_back({window, kv_heads, head_dim, head_dim});
  }
  return result;
}

Model read_model(const TomlTable& table) {
  table.refuse_other_keys({"id", "title", "source", "layers", "pattern", "kv_heads", "head_dim",
                           "window", "max_positions", "hypothetical"});
  Model model;
  model.id = table.text("id");
  if (!is_plain_word(model.id)) {
    table.fail("id", fmt::format("= '{}' may hold only A-Z a-z 0-9 . _ -", model.id));
  }
  model.title = table.text("title");
  model.source = table.text("source");
  model.hypothetical = table.flag("hypothetical", false);
  if (table.has("max_positions")) model.max_positions = table.count("max_positions", 1, kMaxIndex);
  model.layers = read_layers(table);
  return model;
}

}  // namespace

bool is_plain_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return text.find_first_not_of(kPlain) == std::string_view::npos;
}

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
