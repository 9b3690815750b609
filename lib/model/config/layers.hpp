// Which layer of a model sees what: patterns over layer numbers, which are counted from 0.
#pragma once

#include <vector>

#include "mask/window.hpp"

namespace swa {

// What the queries of a layer read.
enum class Sees {
  all,
  window,
  chunk,
  nothing,  // no cache: a recurrent, convolutional or linear layer, or one without attention
};

struct LayerPlan {
  std::vector<Sees> sees;
  // With an entry for each layer where the config states them one by one, else empty.
  std::vector<Index> windows = {};   // W of a layer that sees a window; elsewhere not read
  std::vector<Index> compress = {};  // as Layer::compress

  bool has(Sees kind) const;
};

// All layers see the same.
std::vector<Sees> uniform(Index layers, Sees sees);
// Layers p-1, 2p-1, ... see all, the others `others`. p >= 1.
std::vector<Sees> all_last_of_each(Index layers, Index p, Sees others = Sees::window);
// Layers 0, p, 2p, ... see all.
std::vector<Sees> all_first_of_each(Index layers, Index p);
// The last layer sees all, and each p-th before it.
std::vector<Sees> all_each_from_the_end(Index layers, Index p);
// Layers with these numbers, in any order, see `listed`, the others `others`.
std::vector<Sees> listed_layers(Index layers, const std::vector<Index>& numbers, Sees listed,
                                Sees others);
// Layer i sees pattern[i mod its length].
std::vector<Sees> repeated(Index layers, const std::vector<Sees>& pattern);

}  // namespace swa
