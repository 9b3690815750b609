// Poison tests: does an output depend on keys that it must not depend on?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "verify/kernel.hpp"

namespace swa {

// Dead keys: those that no row of the call sees, and padding behind a sequence's keys. Poisoning
// their k and v, with NaN, infinity and 1e4 in turn, must not change one bit of any output.
struct DeadKeyTest {
  Index keys = 0;                       // dead ones, over the batch
  std::vector<std::string> changed_by;  // the poisons that changed a bit: "NaN", "Inf", "1e4"
  bool clean() const { return changed_by.empty(); }
};

// Row isolation: a key that some rows see is poisoned, and the rows that do not see it must stay.
// With 1e4 they must be bit-equal. With NaN or infinity a kernel that multiplies a weight of 0 with
// v may lose rows whose window is near: the granule says how near.
struct IsolationTest {
  std::vector<Index> keys;  // poisoned one by one, as keys of the first sequence
  bool finite_clean = true;
  // Rows whose window and sink tokens are further than this many keys from the poison keep their
  // bits; 0: all rows that do not see the key.
  Index granule = 0;
};

struct PoisonTest {
  // Whether two runs on the same inputs gave the same bits; where not, nothing else is known.
  bool deterministic = true;
  DeadKeyTest dead;
  IsolationTest isolation;

  // Against the granule that the kernel declares, where it declares one.
  bool pass(const std::optional<Index>& declared) const {
    return dead.clean() && isolation.finite_clean && (!declared || isolation.granule <= *declared);
  }
};

// Throws what the kernel throws.
PoisonTest poison_test(const Kernel& kernel, const Problem& problem, const Inputs& inputs);

// Calls of the kernel that it makes.
inline constexpr Index kPoisonRuns = 2 + 3 + 3 * 4;

}  // namespace swa
