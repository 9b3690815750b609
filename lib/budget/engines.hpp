// The layouts, one function each, and what they have in common. Private to this room.
#pragma once

#include "budget/layout.hpp"

namespace swa::engines {

KvLayout logical();
KvLayout full();
KvLayout ring();
KvLayout paged();
KvLayout vllm();
KvLayout sglang();
KvLayout llama_cpp();
KvLayout trtllm();
KvLayout hf();
KvLayout mlx();

// n rounded up to a multiple of `step`. Throws UsageError past 2^63 - 1.
Index round_up(Index n, Index step);

// Throw UsageError "what ENGINE does with MODEL's ... is not known here".
void refuse_compressed(const Stage& stage, std::string_view engine);
void refuse_shared(const Stage& stage, std::string_view engine);
void refuse_states(const Stage& stage, std::string_view engine);

// Calls rows(layer, bytes of one row in all layers like it, rows that they need over all sequences)
// for each kind of layer with a cache of its own.
template <class Rows>
void each_kind(const Stage& stage, const Demand& demand, Rows rows) {
  for (const auto& [layer, count] : stage.layers) {
    if (layer.keeps != Keeps::own) continue;
    rows(layer, times(row_bytes(layer, demand), count),
         times(tokens_held(layer, demand.context), demand.batch));
  }
}

}  // namespace swa::engines
