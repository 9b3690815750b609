// Private to this room: what a GGUF header leaves to the name of the architecture.
#pragma once

#include <string_view>

#include "mask/window.hpp"

namespace swa {

// The rules by which llama.cpp reads a header, in its words; 0 in a number of layers means none.
struct GgufArchitecture {
  enum class Local {
    none,       // every layer attends to all tokens
    causal,     // W keys with the query's own, W the key sliding_window
    chunked,    // chunks of W tokens
    symmetric,  // W / 2 keys to each side
  };
  // Which layers are local, of those with attention. The key sliding_window_pattern is a list of
  // layers, or a period p where that has a meaning.
  enum class Plan {
    every,         // all of them; there is no such key
    last_global,   // of p layers the last one is global
    first_global,  // of p layers the first one is global
    listed,        // the key has to be a list
  };
  static constexpr Index kRequired = -1;

  std::string_view name = {};  // general.architecture
  // Of the config.json that it was made from; empty where there are several, or it is not known.
  std::string_view model_type = {};
  Local local = Local::none;
  Plan plan = Plan::every;
  Index period = 0;    // where the header has no pattern; 0: it has to have one
  Index window = 0;    // W where the header has none, kRequired, or 0: then no layer is local
  Index interval = 0;  // > 0: of so many layers only the last has attention
  // The last layers use the caches of earlier ones. How many do where the header does not say: all
  // but this many, or none of them where this is 0.
  bool shares = false;
  Index owners = 0;
  bool latent = false;            // multi-head latent attention
  bool encoder = false;           // nothing is cached
  std::string_view warning = {};  // what the header does not say or llama.cpp does otherwise
};

// Null where the name is not known.
const GgufArchitecture* find_gguf_architecture(std::string_view name);

}  // namespace swa
