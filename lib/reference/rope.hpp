#pragma once

#include <span>

namespace swa {

// Rotary position embedding of one head's vector, in place, half-split layout: element i of the
// first half turns with element i of the second by position * base^(-i / half). The size is even.
// Source: Su et al., "RoFormer" (arXiv:2104.09864); the layout is that of the chapter's Case 4.
void rotate(std::span<double> x, double position, double base = 10'000.0);

}  // namespace swa
