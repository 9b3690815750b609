// The bytes that a call has to move.
#pragma once

#include "problem/problem.hpp"

namespace swa {

// Of a call that reads q once and, once, the k and v of each kv head that some row sees, and writes
// out and lse: no kernel moves less, whatever it keeps on the chip. Padding is not moved. As
// doubles: sizes near 2^62 have a sum.
struct Traffic {
  double reads = 0, writes = 0;
  double total() const { return reads + writes; }
};
Traffic least_traffic(const Problem& problem);

}  // namespace swa
