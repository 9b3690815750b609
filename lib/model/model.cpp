#include "model/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cache/bytes.hpp"
#include "error.hpp"

namespace swa {
namespace {

__extension__ typedef __int128 Wide;

Index narrow(Wide bytes) {
  if (bytes > std::numeric_limits<Index>::max()) {
    throw UsageError("the cache would be larger than 2^63 bytes",
                     "ask for a shorter context or a smaller batch");
  }
  return static_cast<Index>(bytes);
}

template <class Tokens>
Index bytes_with(const Model& model, Index batch, Index bytes_per_element, Tokens tokens_of) {
  Index total = 0;
  for (const Layer& layer : model.layers) {
    const Index per_token = layer.kv_heads * (layer.head_dim_k + layer.head_dim_v);
    const Index elements = narrow(Wide{tokens_of(layer)} * per_token);
    const Index sequence = narrow(Wide{elements} * bytes_per_element);
    total = narrow(Wide{sequence} * batch + total);
  }
  return total;
}

}  // namespace

Index Model::local_layers() const {
  return std::count_if(layers.begin(), layers.end(), [](const Layer& l) { return l.is_local(); });
}

Index Model::global_layers() const {
  return static_cast<Index>(layers.size()) - local_layers();
}

bool Model::supports(Index context) const {
  return !hypothetical && (!max_context || context <= *max_context);
}

Index kv_bytes(const Model& model, Index context, Index batch, Index bytes_per_element) {
  return bytes_with(model, batch, bytes_per_element,
                    [context](const Layer& layer) { return tokens_kept(layer.window, context); });
}

Index kv_bytes_all_global(const Model& model, Index context, Index batch, Index bytes_per_element) {
  return bytes_with(model, batch, bytes_per_element, [context](const Layer&) { return context; });
}

std::optional<Index> stacked_reach(const Model& model) {
  if (model.global_layers() > 0) return std::nullopt;
  Index reach = 0;
  for (const Layer& layer : model.layers) reach += layer.window.width - 1;
  return reach;
}

Index first_dependence(std::string_view pattern, Index W, Index n) {
  // What a token depends on through the layers so far is one range that ends at itself, so its
  // first position says all; the next layer moves it to the first key that position sees.
  Index first = n - 1;
  for (const char kind : pattern) {
    if (kind != 'L' && kind != 'G') {
      throw UsageError(fmt::format("'{}' is neither L nor G", kind),
                       "write L for a local layer and G for a global one, such as LLLG");
    }
    const Window window = kind == 'L' ? Window::causal(W) : Window::global();
    first = band_begin(Mask::make(window, 0, n, n, Anchor::bottom_right), first);
  }
  return first;
}

}  // namespace swa
