#include "budget/demand.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace swa {
namespace {

__extension__ typedef __int128 Wide;

Index narrow(Wide bytes) {
  if (bytes > kMaxBytes) throw TooManyBytes();
  return static_cast<Index>(bytes);
}

// Of the elements of one token in one layer, in one of K and V.
Index part_bytes(Index heads, Index head_dim, const CacheType& type) {
  const Index elements = heads * head_dim;
  const Index group = type.group > 0 ? type.group : head_dim;
  if (elements == 0) return 0;
  if (head_dim % group != 0 || head_dim * type.bits % 8 != 0) {
    throw UsageError(fmt::format("a head of {} elements does not make whole groups of {} in {}",
                                 head_dim, group, type.name),
                     "choose another --dtype");
  }
  return narrow(Wide{elements} * type.bits / 8 + Wide{elements / group} * type.scale_bytes);
}

std::vector<Stage::Layers> alike(const Model& model, Index begin, Index end) {
  std::vector<Stage::Layers> result;
  for (Index i = begin; i < end; ++i) {
    const Layer& layer = model.layers[static_cast<std::size_t>(i)];
    const auto found = std::find_if(result.begin(), result.end(), [&](const Stage::Layers& known) {
      return known.layer == layer;
    });
    if (found == result.end()) {
      result.push_back({layer, 1});
    } else {
      ++found->count;
    }
  }
  return result;
}

void require_stages(const Model& model, Index pipeline_parallel) {
  if (pipeline_parallel > static_cast<Index>(model.layers.size())) {
    throw UsageError(fmt::format("{} has {} layers, too few for {} pipeline stages", model.id,
                                 model.layers.size(), pipeline_parallel),
                     "give a smaller --pp");
  }
  const bool shares = std::any_of(model.layers.begin(), model.layers.end(),
                                  [](const Layer& l) { return l.keeps == Keeps::shared; });
  if (!shares) return;
  throw UsageError(fmt::format("{} has layers that read another layer's cache, which pipeline "
                               "stages could part from it",
                               model.id),
                   "leave --pp out");
}

template <class Tokens>
Index layer_sum(const Model& model, const Demand& demand, bool with_shared, Tokens tokens_of) {
  Index most = 0;
  for (const Stage& stage : stages(model, demand.pipeline_parallel)) {
    Index total = 0;
    for (const auto& [layer, count] : stage.layers) {
      const bool counts = layer.keeps == Keeps::own || (with_shared && layer.has_cache());
      if (!counts) continue;
      const Index rows = times(times(tokens_of(layer), demand.batch), count);
      total = plus(total, times(rows, row_bytes(layer, demand)));
    }
    most = larger(most, total);
  }
  return most;
}

}  // namespace

TooManyBytes::TooManyBytes()
    : UsageError("the cache would be larger than 2^63 bytes",
                 "ask for a shorter context or a smaller batch") {}

Index times(Index a, Index b) {
  return narrow(Wide{a} * b);
}

Index plus(Index a, Index b) {
  return narrow(Wide{a} + b);
}

const std::vector<CacheType>& cache_types() {
  static const std::vector<CacheType> kTypes{
      {"fp32", 32},        {"bf16", 16},       {"fp16", 16},       {"fp8_e4m3", 8},
      {"fp8_e5m2", 8},     {"int8", 8, 2},     {"int4", 4, 2},     {"q8_0", 8, 2, 32},
      {"q5_1", 5, 4, 32},  {"q5_0", 5, 2, 32}, {"q4_1", 4, 4, 32}, {"q4_0", 4, 2, 32},
      {"iq4_nl", 4, 2, 32}};
  return kTypes;
}

std::vector<std::string> cache_type_words() {
  std::vector<std::string> words{"fp8"};
  for (const CacheType& type : cache_types()) words.emplace_back(type.name);
  return words;
}

std::optional<CacheType> parse_cache_type(std::string_view word) {
  if (word == "fp8") word = "fp8_e4m3";  // either takes one byte
  const auto& types = cache_types();
  const auto found = std::find_if(types.begin(), types.end(),
                                  [&](const CacheType& type) { return type.name == word; });
  if (found == types.end()) return std::nullopt;
  return *found;
}

std::string type_name(const Demand& demand) {
  if (demand.k.name == demand.v.name) return std::string(demand.k.name);
  return fmt::format("{}/{}", demand.k.name, demand.v.name);
}

Index heads_per_rank(const Layer& layer, Index ranks) {
  if (layer.latent || ranks % layer.kv_heads == 0) return 1;
  if (layer.kv_heads % ranks == 0) return layer.kv_heads / ranks;
  throw UsageError(
      fmt::format("{} KV heads cannot be split evenly over {} ranks", layer.kv_heads, ranks),
      "choose a --tp that divides them or is a multiple of them");
}

Index row_bytes(const Layer& layer, const Demand& demand) {
  const Index heads = heads_per_rank(layer, demand.tensor_parallel);
  return plus(part_bytes(heads, layer.head_dim_k, demand.k),
              part_bytes(heads, layer.head_dim_v, demand.v));
}

std::vector<Stage> stages(const Model& model, Index pipeline_parallel) {
  const auto layers = static_cast<Index>(model.layers.size());
  if (pipeline_parallel > 1) require_stages(model, pipeline_parallel);
  const Index rest = layers % pipeline_parallel;
  std::vector<Stage> result;
  Index begin = 0;
  for (Index stage = 0; stage < pipeline_parallel; ++stage) {
    const Index from_last = pipeline_parallel - 1 - stage;
    const bool takes_one = from_last >= 1 && from_last <= rest;
    const Index end = begin + layers / pipeline_parallel + (takes_one ? 1 : 0);
    result.push_back({model, begin, end, alike(model, begin, end)});
    begin = end;
  }
  return result;
}

Index logical_bytes(const Model& model, const Demand& demand) {
  return layer_sum(model, demand, false,
                   [&](const Layer& layer) { return tokens_held(layer, demand.context); });
}

Index all_global_bytes(const Model& model, const Demand& demand) {
  return layer_sum(model, demand, false, [&](const Layer&) { return demand.context; });
}

Index bytes_read_per_step(const Model& model, const Demand& demand) {
  return layer_sum(model, demand, true,
                   [&](const Layer& layer) { return tokens_held(layer, demand.context); });
}

Index bytes_read_all_global(const Model& model, const Demand& demand) {
  return layer_sum(model, demand, true, [&](const Layer&) { return demand.context; });
}

}  // namespace swa
