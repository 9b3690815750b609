#include "reference/rope.hpp"

#include <cmath>
#include <cstddef>

namespace swa {

void rotate(std::span<double> x, double position, double base) {
  const std::size_t half = x.size() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const double angle =
        position * std::pow(base, -static_cast<double>(i) / static_cast<double>(half));
    const double cosine = std::cos(angle), sine = std::sin(angle);
    const double first = x[i], second = x[i + half];
    x[i] = first * cosine - second * sine;
    x[i + half] = first * sine + second * cosine;
  }
}

}  // namespace swa
