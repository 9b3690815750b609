// A problem in the words of swa_plugin.h. Private to this room.
#pragma once

#include <string_view>
#include <vector>

#include "problem/problem.hpp"
#include "verify/plugin_wire.hpp"

namespace swa {

// Everything but the pointers and what the plug-in sets. The dtype is one that a plug-in knows.
swa_attention attention_of(const Problem& problem, int task);

// The arrays that describe its sequences; empty where the struct has NULL.
struct SequenceArrays {
  std::vector<swa_int> lengths_q, lengths_k, offsets_q, offsets_k;
};
SequenceArrays sequence_arrays(const Problem& problem);

}  // namespace swa
