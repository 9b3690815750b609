// Steps that the readers of config.json and of GGUF headers share.
#pragma once

#include "model/keys.hpp"

namespace swa {

// Lets the last `shared` layers, 0 .. as many as there are, read the cache of the last layer of
// their kind before them. Those without a cache stay so. Returns the number of the first layer that
// finds no such cache; nothing where all do.
std::optional<Index> share_last(std::vector<Layer>& layers, Index shared);

// Warns of a window or chunk as wide as the largest context of the model.
void warn_where_never_binding(const ConfigKeys& keys, const Model& model);

}  // namespace swa
