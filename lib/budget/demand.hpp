// What a cache is asked to hold, and the bytes of its rows. Everything here throws TooManyBytes
// past 2^63 - 1 of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "error.hpp"
#include "model/model.hpp"

namespace swa {

inline constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
inline constexpr Index kMaxBytes = INT64_MAX;

class TooManyBytes : public UsageError {
 public:
  TooManyBytes();
};

// The engine would not serve what is asked, however much memory it had.
class NotServed : public UsageError {
 public:
  using UsageError::UsageError;
};

Index times(Index a, Index b);
Index plus(Index a, Index b);

// Elements of the cache: `bits` each, and `scale_bytes` more for every `group` of them.
struct CacheType {
  std::string_view name = "bf16";
  Index bits = 16;
  Index scale_bytes = 0;
  Index group = 0;  // elements that share a scale; 0: the elements of a head, of one token
};

const std::vector<CacheType>& cache_types();
// Their names, and "fp8" for either of its kinds.
std::vector<std::string> cache_type_words();
std::optional<CacheType> parse_cache_type(std::string_view word);

struct Demand {
  Index context = 1;  // tokens of each sequence
  Index batch = 1;    // sequences
  CacheType k = {}, v = {};
  Index tensor_parallel = 1;    // ranks that share the heads of every layer
  Index pipeline_parallel = 1;  // stages that share the layers
};

// "bf16", or "bf16/fp8_e4m3" where K and V differ.
std::string type_name(const Demand& demand);

// Heads of the layer that each rank holds. Heads that are fewer than the ranks are replicated; a
// latent row is on every rank. Throws UsageError where they cannot be split evenly.
Index heads_per_rank(const Layer& layer, Index ranks);

// Bytes of K and of V that one token takes in a layer on one rank, scales included. Throws
// UsageError where a head does not consist of whole groups or bytes.
Index row_bytes(const Layer& layer, const Demand& demand);

// Layers begin .. end - 1 of a model: those of one pipeline stage, and alike ones together.
struct Stage {
  struct Layers {
    Layer layer;
    Index count;
  };
  const Model& model;
  Index begin, end;
  std::vector<Layers> layers;
};

// Contiguous stages, as even as can be; the rest goes to those before the last, as in vLLM. Throws
// UsageError for more stages than layers, and for stages that could part layers from the cache that
// they share.
std::vector<Stage> stages(const Model& model, Index pipeline_parallel);

// Bytes on the rank with the most of them: tokens_held() rows of each layer with its own cache.
Index logical_bytes(const Model& model, const Demand& demand);
// The same with every layer global.
Index all_global_bytes(const Model& model, const Demand& demand);
// Bytes that one decode step reads on the rank that reads most: what each layer sees, also where
// the cache is another layer's.
Index bytes_read_per_step(const Model& model, const Demand& demand);
// The same with every layer global.
Index bytes_read_all_global(const Model& model, const Demand& demand);

}  // namespace swa
