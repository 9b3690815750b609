// Some rows of an oracle, computed once more.
#pragma once

#include "reference/oracle.hpp"

namespace swa {

// Compares rows of an oracle that was computed elsewhere, on a GPU say, with the dense oracle: the
// first, the last, those where the window begins to cut and neighbours in the middle, of the first
// and the last head. Returns how many. Throws std::logic_error where one differs by more than two
// computations in double may: the oracle is wrong then, and no verdict by it is worth anything.
Index check_sampled_rows(const Problem& problem, const Inputs& inputs, const Oracle& oracle);

}  // namespace swa
