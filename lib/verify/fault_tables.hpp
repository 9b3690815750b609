// The parts of the catalogue. Private to this room.
#pragma once

#include <vector>

#include "verify/faults.hpp"

namespace swa {

std::vector<Fault> window_faults();
std::vector<Fault> alignment_faults();
std::vector<Fault> tile_faults();
std::vector<Fault> empty_row_faults();
std::vector<Fault> head_faults();
std::vector<Fault> cache_faults();
std::vector<Fault> score_faults();
std::vector<Fault> sink_faults();

// left and right of the band, whatever the kind; a chunked window has no reach to the left.
inline Side left_of(const Mask& mask) {
  return mask.window.reach_left();
}
inline Side right_of(const Mask& mask) {
  return mask.window.reach_right();
}
inline bool is_two_sided(const Mask& mask) {
  return !(right_of(mask) == Side::of(0));
}

inline void set_band(Mask& mask, Side left, Side right) {
  mask.window = Window::band(left, right);
}

}  // namespace swa
