#include <fmt/format.h>

#include "kernels/sample_check.hpp"

namespace swa {

std::string SampleCheck::reason() const {
  if (pass()) return {};
  if (nonfinite > 0) return fmt::format("{} elements are NaN, infinite or unwritten", nonfinite);
  if (output.pass()) return fmt::format("the log-sum-exp of {} rows is wrong", lse_mismatches);
  return fmt::format(
      "{} of {} elements are out of bound; {:.3g} where {:.3g} is right within {:.1e} (batch {}, "
      "head {}, row {}, element {})",
      output.mismatches, output.elements, output.got, output.expected, output.bound,
      output.worst[0], output.worst[1], output.worst[2], output.worst[3]);
}

}  // namespace swa
