// What a model's layers keep in the KV cache.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mask/window.hpp"

namespace swa {

// Where a layer's keys and values lie.
enum class Keeps : std::uint8_t {
  own,     // in a cache of its own
  shared,  // in that of the last layer of its kind that has one: it adds no bytes, but reads them
  none,    // nowhere: a recurrent, convolutional or linear layer, whose state does not grow
};

// The window of an encoder that states its whole width: half of it to each side.
Window symmetric(Index width);
// The width that models state: W, C, or a band's left and right side together; nothing for a window
// without bounds.
std::optional<Index> stated_width(const Window& window);

// One layer's share of the cache. A token takes kv_heads x (head_dim_k + head_dim_v) elements.
struct Layer {
  Window window;  // what a query sees: global, causal, chunked or a band; not read without a cache
  Index kv_heads = 0;
  Index head_dim_k = 0, head_dim_v = 0;
  Keeps keeps = Keeps::own;
  // One latent row stands for the keys and values of all heads (multi-head latent attention): it is
  // kv_heads = 1, head_dim_k its elements and head_dim_v = 0, and no rank of tensor parallelism can
  // do without it.
  bool latent = false;
  // > 0: beside the window's tokens, one row for every so many tokens of the context.
  Index compress = 0;

  bool has_cache() const { return keeps != Keeps::none; }
  bool is_local() const { return has_cache() && window.kind != Window::Kind::global; }
  bool is_global() const { return has_cache() && window.kind == Window::Kind::global; }
  friend bool operator==(const Layer&, const Layer&) = default;
};

// What is more is no model's.
inline constexpr Index kMaxModelLayers = 10'000;
inline constexpr Index kMaxModelWidth = 1'000'000;  // heads, and elements of a head

// Letters, digits, '.', '_' and '-' alone: a word that no shell reads as anything else.
bool is_plain_word(std::string_view text);
// At most 100 characters of a name as such a word: others become '-'. It does not begin with '-' or
// '.', so that no program takes it for an option or hides it; empty where nothing is left.
std::string plain_word(std::string_view name);

struct Model {
  std::string id;     // the name on the command line, such as "gemma2-27b": a plain word
  std::string title;  // the publisher's name
  std::string hf_id;  // the publisher's repository, such as "google/gemma-2-27b"; may be empty
  std::string architecture;  // model_type of its config.json, such as "gemma2"; may be empty
  std::vector<std::string> aliases;    // further names on the command line
  std::vector<Layer> layers;           // empty where `unknown` is not
  std::vector<std::string> unknown;    // figures that no source states: nothing can be computed
  std::optional<Index> max_positions;  // tokens; none where the source states none
  bool hypothetical = false;           // nobody published it: every row of it is arithmetic
  bool encoder = false;                // nothing is cached between calls
  // Facts about attention that take no memory; nothing where unknown.
  std::optional<double> rope_theta_local, rope_theta_global, softcap_attention, softcap_final;
  std::string sinks;   // such as "a learned logit per head"
  std::string nope;    // layers without rotary embedding, such as "global layers"
  std::string source;  // where the figures come from
  std::string sure;    // what kind of source that is, such as "config"
  std::string note;    // what a reader of the figures should know
  std::string caveat;  // what is assumed or not counted

  Index local_layers() const;   // that have a window, with or without a cache of their own
  Index global_layers() const;  // the other layers with attention
  bool supports(Index context) const;
};

// The layers as letters, first to last: L sliding, C chunked, G global, S without a cache; in lower
// case where the cache is another layer's.
std::string layer_plan(const Model& model);

// Tokens that a layer has to hold once `context` >= 1 tokens are cached, so that the newest can be
// computed: all of them without a window, min(context, W) with one, those of the newest chunk with
// chunks. A band counts its stated width.
Index tokens_held(const Layer& layer, Index context);

// How far back the last token of a stack of local layers can depend: the sum of W - 1 over the
// layers. Nothing where a layer is anything else than a sliding one without compressed rows.
std::optional<Index> stacked_reach(const Model& model);

// A stack of L (causal window W) and G (global) layers over n tokens: the first position on which
// the last token depends. Throws UsageError for any other letter.
Index first_dependence(std::string_view pattern, Index W, Index n);

// Reads every *.toml of the folder, files by name and models in file order.
// Throws UsageError with file, line and key for what is unknown, missing or out of range.
std::vector<Model> read_catalogue(const std::string& folder);

}  // namespace swa
