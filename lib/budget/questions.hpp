// What fits into a memory, found exactly.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "budget/layout.hpp"

namespace swa {

// The most that a sequence needs on its way to the context, which is more than at its end where
// chunks begin anew, and what the engine keeps for itself.
Index peak_bytes(const ChosenLayout& layout, const Model& model, const Demand& demand);

// Whether those are at most so many, and the engine serves the demand.
bool fits(const ChosenLayout& layout, const Model& model, const Demand& demand, Index bytes);

// The answer where there is no end to what fits, within what can be asked.
inline constexpr Index kUnbounded = kMaxIndex;

// The most sequences of the demand's context, or tokens of each of its sequences, that `bytes`
// hold; 0 where not even one. kUnbounded where there is no end.
Index most_sequences(const ChosenLayout& layout, const Model& model, Demand demand, Index bytes);
Index most_context(const ChosenLayout& layout, const Model& model, Demand demand, Index bytes);

// The model with the window of all its sliding layers replaced. Throws UsageError where it has
// none.
Model with_window(const Model& model, Index W);
// The largest such window that `bytes` hold; 0 where not even 1. kUnbounded from the context on.
Index widest_window(const ChosenLayout& layout, const Model& model, const Demand& demand,
                    Index bytes);

// The model with `global` of its layers global and the others local, in the shapes that it has for
// both; the first ones are the global ones. Throws UsageError where it does not have sliding layers
// and else global ones, each with its own cache.
Model with_global_layers(const Model& model, Index global);
// The most global layers that `bytes` hold; -1 where not even 0. Of one pipeline stage, since where
// the global layers stand decides which stage has them.
Index most_global_layers(const ChosenLayout& layout, const Model& model, const Demand& demand,
                         Index bytes);

}  // namespace swa
