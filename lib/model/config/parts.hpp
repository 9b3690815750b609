// The parts of a model beside its plan: windows, heads, shared caches, facts, and the keys that
// nobody reads.
#pragma once

#include "model/config/architectures.hpp"
#include "model/model.hpp"

namespace swa {

// W of the layers that see a window, and C of those that see a chunk; nothing where the file states
// null, 0 or a negative number, so that they see all keys.
std::optional<Index> read_window(ConfigKeys& keys, const Architecture& architecture,
                                 const LayerPlan& plan);
std::optional<Index> read_chunk(ConfigKeys& keys, const Architecture& architecture);

// Whether the config describes an encoder, whose windows count both sides.
bool is_encoder(ConfigKeys& keys, const Architecture& architecture);

// Fills in the heads of each layer with a cache. Where the config lists key-value heads for each
// layer, one with 0 of them loses its cache.
void read_heads(ConfigKeys& keys, const Architecture& architecture, const LayerPlan& plan,
                std::vector<Layer>& layers);

// Marks the layers that read the cache of an earlier one.
void read_sharing(ConfigKeys& keys, const Architecture& architecture, const LayerPlan& plan,
                  std::vector<Layer>& layers);

// Rotary bases, caps, sinks. The layers of the model are known.
void read_facts(ConfigKeys& keys, const Architecture& architecture, Model& model);

// Whether the name of a key is like those that say in some family which layers have a window, or no
// cache.
bool speaks_of_layers(std::string_view key);

// Notes the keys that quantize the cache, which is a choice of the one who asks.
void note_quantized_cache(ConfigKeys& keys);

// Notes every key that looks as if it mattered and was not read.
void note_ignored(ConfigKeys& keys);

}  // namespace swa
