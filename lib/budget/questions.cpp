#include "budget/questions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "error.hpp"

namespace swa {
namespace {

// The largest n in 1 .. limit for which `fits`, which holds up to some n and not beyond; 0 where
// there is none.
template <class Fits>
Index largest(Index limit, Fits fits) {
  Index low = 0, high = 1;
  // Doubled first: far beyond the answer the bytes would be too many to count.
  while (high <= limit && fits(high)) {
    low = high;
    high *= 2;
  }
  high = smaller(high, limit + 1);
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

Index peak(const ChosenLayout& layout, const std::vector<Stage>& stages, const Demand& demand) {
  const auto taken = [&](const Demand& at) { return allocate(layout, stages, at).with_reserved(); };
  Index chunk = 0;  // one model has chunks of one size
  for (const Stage& stage : stages) {
    for (const auto& [layer, count] : stage.layers) {
      if (layer.window.kind == Window::Kind::chunked) chunk = layer.window.width;
    }
  }
  if (chunk == 0 || demand.context <= chunk) return taken(demand);
  Demand before = demand;
  before.context = demand.context / chunk * chunk;
  return larger(taken(demand), taken(before));
}

bool fits(const ChosenLayout& layout, const std::vector<Stage>& stages, const Demand& demand,
          Index bytes) {
  try {
    return peak(layout, stages, demand) <= bytes;
  } catch (const TooManyBytes&) {
    return false;
  } catch (const NotServed&) {
    return false;
  }
}

const Layer& first_layer(const Model& model, bool local) {
  const auto& layers = model.layers;
  const auto found = std::find_if(layers.begin(), layers.end(), [&](const Layer& layer) {
    return local ? layer.is_local() : layer.is_global();
  });
  return found == layers.end() ? layers.front() : *found;
}

}  // namespace

Index peak_bytes(const ChosenLayout& layout, const Model& model, const Demand& demand) {
  return peak(layout, stages(model, demand.pipeline_parallel), demand);
}

bool fits(const ChosenLayout& layout, const Model& model, const Demand& demand, Index bytes) {
  return fits(layout, stages(model, demand.pipeline_parallel), demand, bytes);
}

Index most_sequences(const ChosenLayout& layout, const Model& model, Demand demand, Index bytes) {
  const std::vector<Stage> all = stages(model, demand.pipeline_parallel);
  return largest(kUnbounded, [&](Index batch) {
    demand.batch = batch;
    return fits(layout, all, demand, bytes);
  });
}

Index most_context(const ChosenLayout& layout, const Model& model, Demand demand, Index bytes) {
  const std::vector<Stage> all = stages(model, demand.pipeline_parallel);
  return largest(kUnbounded, [&](Index context) {
    demand.context = context;
    return fits(layout, all, demand, bytes);
  });
}

Model with_window(const Model& model, Index W) {
  Model result = model;
  bool any = false;
  for (Layer& layer : result.layers) {
    if (!layer.has_cache() || layer.window.kind != Window::Kind::causal) continue;
    layer.window = Window::causal(W);
    any = true;
  }
  if (!any) {
    throw UsageError(
        fmt::format("{} has no sliding layers, so no window of theirs can be found", model.id),
        "choose another --model");
  }
  return result;
}

Index widest_window(const ChosenLayout& layout, const Model& model, const Demand& demand,
                    Index bytes) {
  if (layout.settings.word("shares", "") == "proportional") {
    throw UsageError("with shares in proportion to the windows no widest window can be found",
                     "leave shares=proportional out");
  }
  const auto holds = [&](Index W) { return fits(layout, with_window(model, W), demand, bytes); };
  if (holds(kUnbounded)) return kUnbounded;
  // Where W is 1 transformers keeps all tokens, so it stands apart. Beyond the context mlx-lm
  // rounds.
  const Index most = plus(demand.context, 1024);
  const Index more = largest(most - 1, [&](Index n) { return holds(n + 1); });
  return more > 0 ? more + 1 : (holds(1) ? 1 : 0);
}

Model with_global_layers(const Model& model, Index global) {
  const auto suits = [](const Layer& layer) {
    return layer.keeps == Keeps::own && layer.compress == 0 &&
           (layer.is_global() || layer.window.kind == Window::Kind::causal);
  };
  if (!std::all_of(model.layers.begin(), model.layers.end(), suits) || model.local_layers() == 0) {
    throw UsageError(
        fmt::format("{} does not consist of sliding and global layers, so no ratio of them can be "
                    "found",
                    model.id),
        "choose another --model");
  }
  const Layer local = first_layer(model, true);
  Layer full = first_layer(model, false);
  full.window = Window::global();
  Model result = model;
  for (std::size_t i = 0; i < result.layers.size(); ++i) {
    result.layers[i] = static_cast<Index>(i) < global ? full : local;
  }
  return result;
}

Index most_global_layers(const ChosenLayout& layout, const Model& model, const Demand& demand,
                         Index bytes) {
  if (!fits(layout, with_global_layers(model, 0), demand, bytes)) return -1;
  Index most = 0;
  // Groups of layers may take less room when more of them are global, so each count is tried.
  for (Index global = 1; global <= static_cast<Index>(model.layers.size()); ++global) {
    if (fits(layout, with_global_layers(model, global), demand, bytes)) most = global;
  }
  return most;
}

}  // namespace swa
