#include "verify/faults.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "error.hpp"
#include "verify/fault_tables.hpp"

namespace swa {

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = [] {
    std::vector<Fault> list;
    for (const auto& part : {window_faults(), alignment_faults(), tile_faults(), empty_row_faults(),
                             head_faults(), cache_faults(), score_faults(), sink_faults()}) {
      list.insert(list.end(), part.begin(), part.end());
    }
    return list;
  }();
  return all;
}

const Fault& fault(std::string_view name) {
  const auto found = std::find_if(faults().begin(), faults().end(),
                                  [&](const Fault& f) { return f.name == name; });
  if (found == faults().end()) {
    throw UsageError(fmt::format("'{}' is no fault of the catalogue", name),
                     "swa trap-demo --list names them");
  }
  return *found;
}

std::string class_of(const Fault& fault) {
  std::string word(fault.kind);
  std::replace(word.begin(), word.end(), ' ', '-');
  return word;
}

std::vector<std::string> fault_classes() {
  std::vector<std::string> classes;
  for (const Fault& f : faults()) {
    const std::string word = class_of(f);
    if (std::find(classes.begin(), classes.end(), word) == classes.end()) classes.push_back(word);
  }
  return classes;
}

namespace {

std::string with_numbers(std::string_view text, const Problem& problem) {
  const Side left = problem.window.reach_left();
  const Index reach = left.bounded ? left.reach : problem.window.width - 1;
  return fmt::format(fmt::runtime(text), fmt::arg("W", reach + 1), fmt::arg("L", reach));
}

}  // namespace

std::string remedy_of(const Fault& fault, const Problem& problem) {
  return with_numbers(fault.remedy, problem);
}

std::string convention_of(const Fault& fault, const Problem& problem) {
  return with_numbers(fault.convention, problem);
}

std::string name_of(const FaultSet& planted) {
  std::string name;
  for (const Fault* f : planted) name += (name.empty() ? "" : "+") + std::string(f->name);
  return name;
}

Plan plan_of(const Problem& problem, TileShape tile, const FaultSet& planted) {
  Plan plan{problem, tile};
  for (const Fault* f : planted) f->plant(plan);
  return plan;
}

Plan plan_of(const Problem& problem, TileShape tile, const Fault& planted) {
  return plan_of(problem, tile, FaultSet{&planted});
}

Kernel planted_kernel(const FaultSet& planted, TileShape tile) {
  Kernel kernel = cpu_kernels(tile).front();
  kernel.name = "planted:" + name_of(planted);
  kernel.run = [planted, tile](const Problem& problem, const Inputs& inputs, Attention& outputs) {
    outputs = run_plan(plan_of(problem, tile, planted), inputs);
  };
  return kernel;
}

}  // namespace swa
