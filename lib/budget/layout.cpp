#include "budget/layout.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "budget/engines.hpp"
#include "error.hpp"

namespace swa {
namespace {

Index sum(const std::array<Index, kShareNames.size()>& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), Index{0}, plus);
}

void refuse_other_types(const KvLayout& layout, const CacheType& type) {
  const auto& types = layout.types;
  if (types.empty() || std::count(types.begin(), types.end(), type.name) == 1) return;
  throw UsageError(fmt::format("layout {} has no cache of type {}", layout.name, type.name),
                   fmt::format("choose from {}", fmt::join(types, ", ")));
}

}  // namespace

void Allocation::add(bool local, Share share, Index bytes) {
  Index& sum = bytes_[local ? 1 : 0][static_cast<std::size_t>(share)];
  sum = plus(sum, bytes);
}

void Allocation::add_rows(const Layer& layer, Index bytes, Index needed, Index wanted,
                          Index allocated) {
  add(layer.is_local(), Share::rows, times(needed, bytes));
  add(layer.is_local(), Share::slack, times(wanted - needed, bytes));
  add(layer.is_local(), Share::rounding, times(allocated - wanted, bytes));
}

Index Allocation::local() const {
  return sum(bytes_[1]);
}

Index Allocation::global() const {
  return sum(bytes_[0]);
}

const std::vector<KvLayout>& layouts() {
  static const std::vector<KvLayout> kLayouts{
      engines::logical(), engines::full(),   engines::ring(),   engines::paged(),
      engines::vllm(),    engines::sglang(), engines::trtllm(), engines::llama_cpp(),
      engines::hf(),      engines::mlx()};
  return kLayouts;
}

Allocation allocate(const ChosenLayout& chosen, const std::vector<Stage>& stages,
                    const Demand& demand) {
  const KvLayout& layout = *chosen.layout;
  refuse_other_types(layout, demand.k);
  refuse_other_types(layout, demand.v);
  if (layout.one_type && demand.k.name != demand.v.name) {
    throw UsageError(fmt::format("layout {} has one type for K and V", layout.name),
                     "give --dtype alone");
  }
  Allocation most;
  for (const Stage& stage : stages) {
    if (stage.model.encoder && !layout.for_encoders) {
      throw UsageError(
          fmt::format("{} is an encoder: {} keeps no cache of it", stage.model.id, layout.name),
          "ask for --layout logical, which counts what a decoder of its shape would keep");
    }
    Allocation one = layout.allocate(stage, demand, chosen.settings);
    const bool is_first = &stage == &stages.front();
    if (is_first || one.with_reserved() > most.with_reserved()) most = std::move(one);
  }
  return most;
}

Allocation allocate(const ChosenLayout& chosen, const Model& model, const Demand& demand) {
  return allocate(chosen, stages(model, demand.pipeline_parallel), demand);
}

namespace engines {

Index round_up(Index n, Index step) {
  return times(ceil_div(n, step), step);
}

void refuse_compressed(const Stage& stage, std::string_view engine) {
  for (const auto& [layer, count] : stage.layers) {
    if (layer.compress == 0) continue;
    throw UsageError(fmt::format("how {} lays out the compressed rows of {} is not known here",
                                 engine, stage.model.id),
                     "ask for --layout logical");
  }
}

void refuse_states(const Stage& stage, std::string_view engine) {
  for (const auto& [layer, count] : stage.layers) {
    // Those of Falcon-H1 and Hymba lie beside attention in every layer.
    const std::string& name = stage.model.architecture;
    if (layer.has_cache() && name != "falcon_h1" && name != "hymba") continue;
    throw UsageError(fmt::format("how {} shares its blocks with the states of {} is not counted "
                                 "here",
                                 engine, stage.model.id),
                     "ask for --layout logical");
  }
}

void refuse_shared(const Stage& stage, std::string_view engine) {
  for (const auto& [layer, count] : stage.layers) {
    if (layer.keeps != Keeps::shared) continue;
    throw UsageError(fmt::format("whether {} sets memory aside for the layers of {} that read "
                                 "another layer's cache is not known here",
                                 engine, stage.model.id),
                     "ask for --layout logical");
  }
}

}  // namespace engines
}  // namespace swa
