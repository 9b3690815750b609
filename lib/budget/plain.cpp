// Layouts that belong to no engine: the least that can be kept, and the two ways to keep a window.
#include "budget/engines.hpp"

namespace swa::engines {
namespace {

constexpr std::string_view kNoSource = "by definition";
const Setting kChunk{"chunk", Setting::Kind::positive, "1",
                     "tokens written in one step, of which the first sees W - 1 older ones"};

// Tokens that a local layer needs while `chunk` tokens are written in one step.
Index window_rows(const Layer& layer, const Demand& demand, Index chunk) {
  if (layer.window.kind == Window::Kind::chunked) {
    return smaller(demand.context, layer.window.width);
  }
  const Index compressed = layer.compress > 0 ? demand.context / layer.compress : 0;
  const Index window = tokens_held(layer, demand.context) - compressed;
  return smaller(demand.context, window + chunk - 1) + compressed;
}

Allocation allocate_logical(const Stage& stage, const Demand& demand, const Settings&) {
  Allocation result;
  each_kind(stage, demand, [&](const Layer& layer, Index bytes, Index needed) {
    result.add_rows(layer, bytes, needed, needed, needed);
  });
  return result;
}

Allocation allocate_full(const Stage& stage, const Demand& demand, const Settings&) {
  Allocation result;
  each_kind(stage, demand, [&](const Layer& layer, Index bytes, Index needed) {
    const Index all = larger(needed, times(demand.context, demand.batch));
    result.add_rows(layer, bytes, needed, all, all);
  });
  return result;
}

Allocation allocate_ring(const Stage& stage, const Demand& demand, const Settings& settings) {
  const Index chunk = settings.count("chunk", 1);
  Allocation result;
  each_kind(stage, demand, [&](const Layer& layer, Index bytes, Index needed) {
    const Index slots =
        layer.is_local() ? times(window_rows(layer, demand, chunk), demand.batch) : needed;
    result.add_rows(layer, bytes, needed, slots, slots);
  });
  return result;
}

// Pages that hold the newest `rows` of `tokens` tokens, at most, while a sequence grows to them.
// The worst of the first tokens to see is the last of a page, or the last there is before one is.
Index pages(Index tokens, Index rows, Index page) {
  if (tokens <= rows) return ceil_div(tokens, page);
  return (smaller(tokens - rows, page - 1) + rows - 1) / page + 1;
}

Allocation allocate_paged(const Stage& stage, const Demand& demand, const Settings& settings) {
  const Index page = settings.count("block-size", 16), chunk = settings.count("chunk", 1);
  refuse_compressed(stage, "a paged cache");
  Allocation result;
  each_kind(stage, demand, [&](const Layer& layer, Index bytes, Index needed) {
    Index wanted = demand.context, taken = ceil_div(demand.context, page);
    if (layer.is_local()) {
      wanted = window_rows(layer, demand, chunk);
      // A chunk of a chunked window begins at a multiple of its size.
      const bool aligned =
          layer.window.kind == Window::Kind::chunked && layer.window.width % page == 0;
      taken = aligned ? ceil_div(wanted, page) : pages(demand.context, wanted, page);
    }
    result.add_rows(layer, bytes, needed, times(wanted, demand.batch),
                    times(times(taken, page), demand.batch));
  });
  return result;
}

}  // namespace

KvLayout logical() {
  return {.name = "logical",
          .summary = "the tokens that the layers have to hold, and not one more",
          .source = kNoSource,
          .allocate = allocate_logical,
          .for_encoders = true};
}

KvLayout full() {
  return {.name = "full",
          .summary = "every layer with a cache of its own keeps every token",
          .source = kNoSource,
          .allocate = allocate_full,
          .for_encoders = true};
}

KvLayout ring() {
  return {.name = "ring",
          .summary = "a local layer has min(ctx, W + chunk - 1) slots, whatever is in them",
          .source = kNoSource,
          .settings = {kChunk},
          .allocate = allocate_ring};
}

KvLayout paged() {
  return {.name = "paged",
          .summary =
              "pages that fell out of the window are freed; the most that are held on the "
              "way to ctx",
          .source = kNoSource,
          .settings = {{"block-size", Setting::Kind::positive, "16", "tokens of a page"}, kChunk},
          .allocate = allocate_paged};
}

}  // namespace swa::engines
