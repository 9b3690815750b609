// NumPy's default_rng(seed).standard_normal and .random, bit for bit.
//
// SeedSequence spreads the seed, PCG64 (128-bit LCG, XSL-RR output) makes 64-bit words, and a
// 256-strip ziggurat with exact tails turns them into normal deviates.
// Sources: O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms
// for Random Number Generation" (HMC-CS-2014-0905); Marsaglia and Tsang, "The Ziggurat Method for
// Generating Random Variables" (J. Stat. Software 5, 2000); NumPy's documentation of
// numpy.random.SeedSequence, PCG64, Generator.standard_normal and Generator.random.
#pragma once

#include <cstdint>
#include <span>

namespace swa {

class NormalStream {
 public:
  explicit NormalStream(std::uint64_t seed);

  // standard_normal.
  double next();
  void fill(std::span<double> values);
  // random: in [0, 1), 53 bits. Both kinds draw from one stream, in the order of the calls.
  double next_uniform();
  void fill_uniform(std::span<double> values);

 private:
  std::uint64_t next_word();

  std::uint64_t state_high_ = 0, state_low_ = 0;
  std::uint64_t increment_high_ = 0, increment_low_ = 0;
};

}  // namespace swa
