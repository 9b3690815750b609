// Private to this room: the layers that the keys of a GGUF header describe.
#pragma once

#include "model/gguf/architectures.hpp"
#include "model/gguf/keys.hpp"

namespace swa {

// The layers of the model, none of them local, and where each figure comes from. Throws UsageError
// with file and key for figures that are missing, out of range, or contradict each other.
std::vector<Layer> read_gguf_layers(GgufKeys& keys, const GgufArchitecture& rule);

// Gives the local ones of the layers their windows and, where they differ, heads of their own; then
// shares the caches. Throws as read_gguf_layers() does.
void read_gguf_windows(GgufKeys& keys, const GgufArchitecture& rule, std::vector<Layer>& layers);

// "default of gemma3 in llama.cpp", where a figure comes from that no key states.
std::string default_of(const GgufArchitecture& rule);

}  // namespace swa
