#include "model/model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "error.hpp"

namespace swa {
namespace {

char letter(const Layer& layer) {
  if (!layer.has_cache()) return 'S';
  const char kind = layer.is_global()                            ? 'G'
                    : layer.window.kind == Window::Kind::chunked ? 'C'
                                                                 : 'L';
  return layer.keeps == Keeps::shared ? static_cast<char>(kind - 'A' + 'a') : kind;
}

}  // namespace

bool is_plain_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return text.find_first_not_of(kPlain) == std::string_view::npos;
}

std::string plain_word(std::string_view name) {
  constexpr std::size_t kLongest = 100;
  std::string word;
  for (const char c : name.substr(0, kLongest)) {
    word += is_plain_word(std::string_view(&c, 1)) ? c : '-';
  }
  word.erase(0, word.find_first_not_of("-."));
  return word;
}

Index Model::local_layers() const {
  return std::count_if(layers.begin(), layers.end(), [](const Layer& l) { return l.is_local(); });
}

Index Model::global_layers() const {
  return std::count_if(layers.begin(), layers.end(), [](const Layer& l) { return l.is_global(); });
}

bool Model::supports(Index context) const {
  return !hypothetical && !encoder && (!max_positions || context <= *max_positions);
}

std::string layer_plan(const Model& model) {
  std::string plan;
  for (const Layer& layer : model.layers) plan += letter(layer);
  return plan;
}

Window symmetric(Index width) {
  return Window::band(Side::of(width / 2), Side::of(width / 2));
}

std::optional<Index> stated_width(const Window& window) {
  switch (window.kind) {
    case Window::Kind::causal:
    case Window::Kind::chunked:
      return window.width;
    case Window::Kind::band:
      if (window.left.bounded && window.right.bounded) {
        return larger(1, window.left.reach + window.right.reach);
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

Index tokens_held(const Layer& layer, Index context) {
  const Index compressed = layer.compress > 0 ? context / layer.compress : 0;
  if (layer.window.kind == Window::Kind::chunked) {
    return (context - 1) % layer.window.width + 1 + compressed;
  }
  return smaller(context, stated_width(layer.window).value_or(context)) + compressed;
}

std::optional<Index> stacked_reach(const Model& model) {
  Index reach = 0;
  for (const Layer& layer : model.layers) {
    const bool slides = layer.window.kind == Window::Kind::causal && layer.compress == 0;
    if (!slides || !layer.has_cache()) return std::nullopt;
    reach = smaller(kMaxIndex, reach + layer.window.width - 1);
  }
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
