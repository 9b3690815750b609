// How fast the machine multiplies matrices with the library and the build that the references use:
// the roof that their speed is a share of.
#pragma once

#include <cstdint>
#include <vector>

#include "mask/window.hpp"

namespace swa {

// C [m, n] = A [m, k] B [k, n].
struct GemmShape {
  Index m = 0, n = 0, k = 0;
  double flops() const {
    return 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

// Products of one shape in Real (float or double), on the threads of parallel_for, each on one.
template <class Real>
class GemmRoof {
 public:
  explicit GemmRoof(GemmShape shape);

  const GemmShape& shape() const { return shape_; }
  // FLOP/s over about this many seconds, and no less than one product a thread.
  double measure(double seconds);

 private:
  double run(Index products) const;  // seconds

  GemmShape shape_;
  std::vector<Real> a_, b_;
  double seconds_of_one_;  // of all threads together
};

extern template class GemmRoof<float>;
extern template class GemmRoof<double>;

}  // namespace swa
