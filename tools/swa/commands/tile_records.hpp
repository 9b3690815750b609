// The tables of swa tile-map.
#pragma once

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

// The layers of a stack that have one window.
struct LayerKind {
  std::string word;  // as typed: "L", or "128"
  Index layers = 0;
  Map map;  // of one of them
};

// Two tables: the counts of the layers of each kind together, and those of the whole stack.
std::vector<report::Table> layer_tables(const std::vector<LayerKind>& kinds,
                                        const std::string& stack);

// What to pass to each system for one mask.
report::Table convention_table(const Mask& mask);

}  // namespace swa::commands
