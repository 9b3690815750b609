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
                     "swa verify --list-faults names them");
  }
  return *found;
}

std::string remedy_of(const Fault& fault, const Problem& problem) {
  const Side left = problem.window.reach_left();
  const Index reach = left.bounded ? left.reach : problem.window.width - 1;
  return fmt::format(fmt::runtime(fault.remedy), fmt::arg("W", reach + 1), fmt::arg("L", reach));
}

Plan plan_of(const Problem& problem, TileShape tile, std::span<const Fault* const> planted) {
  Plan plan{problem, tile};
  for (const Fault* f : planted) f->plant(plan);
  return plan;
}

Plan plan_of(const Problem& problem, TileShape tile, const Fault& planted) {
  const Fault* const one = &planted;
  return plan_of(problem, tile, std::span(&one, 1));
}

}  // namespace swa
