// Sums of weight |v| for the bound on the error: an upper bound will do, so float is enough.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "mask/window.hpp"

namespace swa {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Adds to `sums` what is no less than weights |v| and hardly more: products in float, of runs of
// keys, rounded up by what they may have lost. A term has two narrowings and a product behind it
// and passes through less than a run of additions, each off by 2^-24 of itself at most; what is
// subnormal in float loses 2^-148 at most, with |v| in units of a power of two, below 2.
// largest_v: of each key.
inline void add_abs_values(const Eigen::Ref<const RowMajor>& weights,
                           const Eigen::Map<const RowMajor>& v, const double* largest_v,
                           RowMajor& sums) {
  using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  constexpr Index kRun = 1024;
  constexpr double kUp = 1 + 2 * (kRun + 3) * 0x1p-24;
  for (Index begin = 0; begin < v.rows(); begin += kRun) {
    const Index run = smaller(kRun, v.rows() - begin);
    const double most = *std::max_element(largest_v + begin, largest_v + begin + run);
    const double unit = std::exp2(std::max(std::ilogb(most), -1000));
    const Floats w = weights.middleCols(begin, run).cast<float>();
    const Floats abs_v = (v.middleRows(begin, run).cwiseAbs() * (1 / unit)).cast<float>();
    const Floats product = w * abs_v;
    sums.array() +=
        unit * (kUp * product.cast<double>().array() + static_cast<double>(run) * 0x1p-148);
  }
}

}  // namespace swa
