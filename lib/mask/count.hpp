#pragma once

namespace swa {

// Counts of pairs and tiles pass 2^64: a sequence of 2^40 tokens has 2^80 pairs.
__extension__ typedef __int128 Count;

}  // namespace swa
