#include "model/reading.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swa {

std::optional<Index> share_last(std::vector<Layer>& layers, Index shared) {
  const auto first = layers.end() - shared;
  for (auto layer = first; layer != layers.end(); ++layer) {
    if (!layer->has_cache()) continue;
    const bool has_owner = std::any_of(layers.begin(), first, [&](const Layer& other) {
      return other.keeps == Keeps::own && other.window.kind == layer->window.kind;
    });
    if (!has_owner) return layer - layers.begin();
    layer->keeps = Keeps::shared;
  }
  return std::nullopt;
}

void warn_where_never_binding(const ConfigKeys& keys, const Model& model) {
  if (!model.max_positions) return;
  for (const Layer& layer : model.layers) {
    // A band reaches half of its width to each side.
    if (!layer.has_cache() || layer.window.kind == Window::Kind::band) continue;
    const std::optional<Index> width = stated_width(layer.window);
    if (!width || *width < *model.max_positions) continue;
    keys.warn(
        fmt::format("a window of {} is not below the {} positions of the model: it never "
                    "binds within them",
                    *width, *model.max_positions));
    return;
  }
}

}  // namespace swa
