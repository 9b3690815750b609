// How the naive kernel is launched.
#pragma once

namespace swa {

inline constexpr int kNaiveWarps = 8;  // of a block; a row each

}  // namespace swa
