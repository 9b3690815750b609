// What the dense and the band oracle share. Private to this room.
#pragma once

#include "problem/problem.hpp"
#include "reference/oracle.hpp"

namespace swa {

// Rows of one block: what a thread computes at a time.
inline constexpr Index kBlockRows = 64;

// c tanh(score / c) for a softcap c > 0.
double capped(double score, double softcap);

// The sink logit of a head, -inf where there is none: it then adds exp(-inf) = 0.
double sink_logit(const Inputs& inputs, Index head);

}  // namespace swa
