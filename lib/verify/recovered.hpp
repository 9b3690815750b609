// What a probe says: where the recovered mask differs from the specification, and the mask in
// words.
#pragma once

#include <string>
#include <vector>

#include "verify/probe.hpp"

namespace swa {

// One (row, key) pair; the row of the output tensor, the key as a row of the tensor k.
struct WrongPair {
  Index batch = 0, head = 0, row = 0, key = 0;
  Index expected = 0, got = 0;  // times that the row counts the key
};

struct MaskComparison {
  Index pairs = 0;               // visible pairs of the probed rows, by the specification
  Index extra = 0;               // pairs that are attended and should not be
  Index missing = 0;             // pairs that are not attended and should be
  Index repeated = 0;            // visible pairs that count more than once
  std::vector<WrongPair> first;  // of all these, at most kMostNamed
  Index rows = 0;                // probed, padding left out
  Index nan_rows = 0, unwritten_rows = 0, rows_from_k = 0;
  // Rows whose weights are not 1 / n, or whose lse is not ln(n), for the n that they attend; such
  // as with a sink logit left out.
  Index rows_with_other_weights = 0;
  Index wrong_heads = 0;  // query heads that read other heads or sequences of k and v

  bool exact() const {
    return extra + missing + repeated == 0 && nan_rows + unwritten_rows + rows_from_k == 0 &&
           rows_with_other_weights + wrong_heads == 0;
  }
};
inline constexpr std::size_t kMostNamed = 8;

MaskComparison compare_mask(const Problem& problem, const Probe& probe);

// The recovered mask, a line for each class of neighbouring rows whose keys follow one rule, such
// as "rows 0..99: keys 0..r" and "rows 100..499: 100 keys ending at r"; r is the row. Heads and
// batch entries with the same classes share them. At most `most` lines, and one that says how many
// were left out.
std::vector<std::string> describe_mask(const Problem& problem, const Probe& probe,
                                       std::size_t most = 16);

// "(row 100, key 0) is attended and should not be", of a pair that is wrong.
std::string describe(const WrongPair& pair, const Problem& problem);

}  // namespace swa
