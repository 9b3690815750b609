// Random numbers of which each depends on its place alone, so that many threads can draw them.
//
// Philox4x32-10 of the counter (i / 4, tensor, 0) and the key `seed` gives four words, which make
// the elements 4 (i / 4) and the three after it. Uniform: word * 2^-32, in [0, 1). Normal: the
// transform of Box and Muller of two words each, a radius and an angle, by sums, products,
// divisions and a square root in double alone, each rounded once: no machine and no library changes
// a bit. docs/numerics.md states it step by step. Sources: Salmon, Moraes, Dror and Shaw, "Parallel
// Random Numbers: As Easy as 1, 2, 3" (SC 2011); Box and Muller, "A Note on the Generation of
// Random Normal Deviates" (1958).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "mask/window.hpp"

namespace swa {

// Four words of a counter, least significant word first, and a key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                    std::array<std::uint32_t, 2> key);

// The numbers of one tensor; those of another are independent of them.
struct CounterStream {
  std::uint64_t seed = 0;
  std::uint32_t tensor = 0;

  // Elements first, first + 1, ... of the tensor; `first` is a multiple of 4.
  void fill(std::span<double> values, Index first) const;
  void fill_uniform(std::span<double> values, Index first) const;
};

}  // namespace swa
