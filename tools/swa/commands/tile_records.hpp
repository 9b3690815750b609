// The tables of swa tile-map.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "problem/problem.hpp"
#include "report/report.hpp"
#include "tiles/counts.hpp"

namespace swa::commands {

// One map: a problem, whose tiles, and their shape.
struct Map {
  Problem problem;
  Rule rule = Rule::exact;
  TileShape tile;
};

// Counts of one head over all sequences of the problem. `show` and `show_mask` add the drawings to
// the machine formats.
report::Table map_table(const std::vector<Map>& maps, bool show, bool show_mask);

// One layer of a stack, as typed and as a window.
struct StackLayer {
  std::string word;
  Window window;
};

// The counts of the layers of each kind together, and of the stack. The window of the map's problem
// is that of no layer.
report::Table layer_table(const Map& map, const std::vector<StackLayer>& stack,
                          const std::string& stack_text);

// What to pass to each system for one mask.
report::Table convention_table(const Mask& mask);

}  // namespace swa::commands
