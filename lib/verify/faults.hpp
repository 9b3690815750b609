// The catalogue of known faults: how windowed attention goes wrong, each as a planted change of the
// tiled CPU forward. The diagnosis compares a kernel with all of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "verify/kernel.hpp"
#include "verify/plan.hpp"

namespace swa {

struct Fault {
  std::string_view name;     // "window-one-too-wide"
  std::string_view kind;     // the class: window, alignment, tiles, ...
  std::string_view meaning;  // what the kernel does, as a clause: "a row sees one key too many"
  std::string_view cause;    // how it comes about
  std::string_view remedy;   // {W} and {L} stand for the problem's window and for left = W - 1
  void (*plant)(Plan&);      // leaves the plan as it is where the fault has no meaning
  // Where the kernel is right by another project's convention: whose; else empty.
  std::string_view convention = {};
};

// Every fault, by class; within a class the more common first.
const std::vector<Fault>& faults();
// Throws UsageError where there is none of that name.
const Fault& fault(std::string_view name);

// The class of a fault as one word, such as "sink-logits", and those of all faults, in order.
std::string class_of(const Fault& fault);
std::vector<std::string> fault_classes();

// The remedy, and the convention, with the problem's numbers.
std::string remedy_of(const Fault& fault, const Problem& problem);
std::string convention_of(const Fault& fault, const Problem& problem);

using FaultSet = std::vector<const Fault*>;  // planted in this order; empty for the right kernel

// "top-left", or "top-left+scale-missing".
std::string name_of(const FaultSet& planted);

Plan plan_of(const Problem& problem, TileShape tile, const FaultSet& planted = {});
Plan plan_of(const Problem& problem, TileShape tile, const Fault& planted);
// The kernel planted:NAME, the tiled forward with these faults.
Kernel planted_kernel(const FaultSet& planted, TileShape tile);

}  // namespace swa
