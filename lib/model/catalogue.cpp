#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "error.hpp"
#include "model/model.hpp"

namespace swa {
namespace {

constexpr Index kMaxLayers = 10'000;
constexpr Index kMaxHeads = 1'000'000;

// Reads one [[model]] table; every complaint names file, line and key.
class ModelReader {
 public:
  ModelReader(const std::string& path, const toml::table& table) : path_(path), table_(table) {}

  Model read() {
    refuse_unknown_keys();
    Model model;
    model.id = text("id");
    model.title = text("title");
    model.source = text("source");
    if (table_.contains("hypothetical")) {
      const auto value = table_["hypothetical"].value_exact<bool>();
      if (!value) fail("hypothetical", "is neither true nor false");
      model.hypothetical = *value;
    }
    if (table_.contains("max_context")) model.max_context = count("max_context", kMaxIndex);
    const std::string pattern = text("pattern");
    const Index layers = count("layers", kMaxLayers);
    const Index kv_heads = count("kv_heads", kMaxHeads), head_dim = count("head_dim", kMaxHeads);
    for (Index i = 0; i < layers; ++i) {
      const char kind = pattern[static_cast<std::size_t>(i) % pattern.size()];
      if (kind != 'L' && kind != 'G') fail("pattern", "may hold only L and G");
      const Window window =
          kind == 'L' ? Window::causal(count("window", kMaxIndex)) : Window::global();
      model.layers.push_back({window, kv_heads, head_dim, head_dim});
    }
    return model;
  }

 private:
  [[noreturn]] void fail(std::string_view key, std::string_view what) const {
    const toml::node* node = table_.get(key);
    const auto line = (node != nullptr ? node->source() : table_.source()).begin.line;
    throw UsageError(fmt::format("{}:{}: '{}' {}", path_, line, key, what));
  }

  void refuse_unknown_keys() const {
    static constexpr std::array<std::string_view, 10> kKnown{
        "id",       "title",    "source", "layers",      "pattern",
        "kv_heads", "head_dim", "window", "max_context", "hypothetical"};
    for (const auto& [key, node] : table_) {
      if (std::find(kKnown.begin(), kKnown.end(), key.str()) == kKnown.end()) {
        fail(key.str(), "is not a key of [[model]]");
      }
    }
  }

  std::string text(std::string_view key) const {
    const auto value = table_[key].value_exact<std::string>();
    if (!value || value->empty()) fail(key, "is missing, empty or not a string");
    return *value;
  }

  Index count(std::string_view key, Index most) const {
    const auto value = table_[key].value_exact<std::int64_t>();
    if (!value) fail(key, "is missing or not a whole number");
    if (*value < 1 || *value > most) fail(key, fmt::format("is not within 1 .. {}", most));
    return *value;
  }

  const std::string& path_;
  const toml::table& table_;
};

void read_file(const std::string& path, std::vector<Model>& models) {
  toml::table file;
  try {
    file = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}:{}: {}", path, error.source().begin.line,
                                 std::string(error.description())));
  }
  const toml::array* tables = file["model"].as_array();
  if (tables == nullptr) throw UsageError(fmt::format("{} has no [[model]]", path));
  for (const toml::node& node : *tables) {
    const toml::table* table = node.as_table();
    if (table == nullptr) throw UsageError(fmt::format("{}: 'model' is not a table", path));
    const Model model = ModelReader(path, *table).read();
    for (const Model& other : models) {
      if (other.id == model.id) {
        throw UsageError(fmt::format("{}:{}: the model '{}' stands twice in the catalogue", path,
                                     table->source().begin.line, model.id));
      }
    }
    models.push_back(model);
  }
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
  for (const std::string& path : paths) read_file(path, models);
  if (models.empty()) throw UsageError(fmt::format("the model catalogue {} is empty", folder));
  return models;
}

}  // namespace swa
