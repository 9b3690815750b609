// What a model's attention layers keep in the KV cache.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mask/window.hpp"

namespace swa {

// One attention layer's share of the cache.
struct Layer {
  Window window;  // global, or causal of W keys
  Index kv_heads = 0;
  Index head_dim_k = 0, head_dim_v = 0;

  bool is_local() const { return window.kind == Window::Kind::causal; }
};

// Letters, digits, '.', '_' and '-' alone: a word that no shell reads as anything else.
bool is_plain_word(std::string_view text);

struct Model {
  std::string id;     // the name on the command line, such as "gemma2-27b": a plain word
  std::string title;  // the publisher's name
  std::vector<Layer> layers;
  std::optional<Index> max_context;  // tokens; none where the source states none
  bool hypothetical = false;         // nobody published it: every row of it is arithmetic
  std::string source;                // where the figures come from

  Index local_layers() const;
  Index global_layers() const;
  bool supports(Index context) const;
};

// Bytes of K and V over all layers and sequences. A local layer holds min(context, W) tokens.
// Throws UsageError past 2^63 - 1.
Index kv_bytes(const Model& model, Index context, Index batch, Index bytes_per_element);
// The same with every layer global.
Index kv_bytes_all_global(const Model& model, Index context, Index batch, Index bytes_per_element);

// How far back the last token of a stack of local layers can depend: the sum of W - 1 over the
// layers. Nothing where a layer is global.
std::optional<Index> stacked_reach(const Model& model);

// A stack of L (causal window W) and G (global) layers over n tokens: the first position on which
// the last token depends. Throws UsageError for any other letter.
Index first_dependence(std::string_view pattern, Index W, Index n);

// Reads every *.toml of the folder, files by name and models in file order.
// Throws UsageError with file, line and key for what is unknown, missing or out of range.
std::vector<Model> read_catalogue(const std::string& folder);

}  // namespace swa
