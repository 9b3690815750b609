// Small random attention problems, edges favoured: sizes around the window and around tiles, rows
// that see nothing, sequences without tokens.
#pragma once

#include <initializer_list>
#include <random>

#include "problem/problem.hpp"

namespace swa {

// The same seed and limits give the same problems on every machine, whatever their number. Each is
// valid, and options() states it whole.
class RandomProblems {
 public:
  struct Limits {
    Index tokens = 200;    // of a sequence
    Index head_dim = 256;  // and of a value
  };
  explicit RandomProblems(std::uint64_t seed) : RandomProblems(seed, Limits()) {}
  RandomProblems(std::uint64_t seed, Limits limits) : engine_(seed), limits_(limits) {}

  Problem next();
  // One of them, for what a caller varies besides.
  Index pick(std::initializer_list<Index> values);

 private:
  bool once_in(Index times) { return below(times) == 0; }
  Index below(Index end);  // 0 .. end - 1
  Index size();
  Index beside(Index edge);  // edge - 1 .. edge + 1, at least 1
  Side side();
  Window window();
  void set_sizes(Problem& problem);
  void set_heads(Problem& problem);
  void set_scores(Problem& problem);
  void set_lengths(Problem& problem);

  std::mt19937_64 engine_;
  Limits limits_;
};

}  // namespace swa
