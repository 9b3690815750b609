#include "model/config/layers.hpp"

#include <algorithm>

namespace swa {
namespace {

template <class SeesAll>
std::vector<Sees> where(Index layers, Sees others, SeesAll sees_all) {
  std::vector<Sees> sees;
  for (Index i = 0; i < layers; ++i) sees.push_back(sees_all(i) ? Sees::all : others);
  return sees;
}

}  // namespace

bool LayerPlan::has(Sees kind) const {
  return std::find(sees.begin(), sees.end(), kind) != sees.end();
}

std::vector<Sees> uniform(Index layers, Sees sees) {
  return std::vector<Sees>(static_cast<std::size_t>(layers), sees);
}

std::vector<Sees> all_last_of_each(Index layers, Index p, Sees others) {
  return where(layers, others, [p](Index i) { return i % p == p - 1; });
}

std::vector<Sees> all_first_of_each(Index layers, Index p) {
  return where(layers, Sees::window, [p](Index i) { return i % p == 0; });
}

std::vector<Sees> all_each_from_the_end(Index layers, Index p) {
  return where(layers, Sees::window, [=](Index i) { return (layers - 1 - i) % p == 0; });
}

std::vector<Sees> listed_layers(Index layers, const std::vector<Index>& numbers, Sees listed,
                                Sees others) {
  std::vector<Sees> sees(static_cast<std::size_t>(layers), others);
  for (const Index number : numbers) sees[static_cast<std::size_t>(number)] = listed;
  return sees;
}

std::vector<Sees> repeated(Index layers, const std::vector<Sees>& pattern) {
  std::vector<Sees> sees;
  for (Index i = 0; i < layers; ++i) {
    sees.push_back(pattern[static_cast<std::size_t>(i) % pattern.size()]);
  }
  return sees;
}

}  // namespace swa
