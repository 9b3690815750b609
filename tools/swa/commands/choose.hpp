// Kernels by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "verify/kernel.hpp"

namespace swa::commands {

// Indices of the names that match one of the option's patterns, each once, in the order of the
// patterns.
// Throws CannotRun, because `gpu_absence` and with that remedy, where a pattern fits GPU kernels
// only, and UsageError where it fits none.
std::vector<std::size_t> choose_names(const cli::Option& option,
                                      const std::vector<std::string>& names,
                                      const std::string& gpu_absence, const std::string& remedy);

// The same of things that have a name.
template <class Named>
std::vector<Named> choose(const cli::Option& option, const std::vector<Named>& all,
                          const std::string& gpu_absence, const std::string& remedy) {
  std::vector<std::string> names;
  for (const Named& one : all) names.push_back(one.name);
  std::vector<Named> chosen;
  for (const std::size_t i : choose_names(option, names, gpu_absence, remedy)) {
    chosen.push_back(all[i]);
  }
  return chosen;
}

// The kernels of the option's items `plugin:PATH`, each once. Throws UsageError for a path that is
// not there, and CannotRun for a plug-in that cannot run in this build.
std::vector<Kernel> plugin_kernels(const cli::Option& option, double timeout);
// Those of the items `planted:FAULT`, where FAULT names faults of the catalogue, as a pattern or
// joined by +. Throws UsageError for one that there is not.
std::vector<Kernel> planted_kernels(const cli::Option& option, TileShape tile);
// Those of the items `portable-planted:FAULT`, where FAULT is a pattern too; none where no GPU can
// run them. Throws UsageError for a fault that is planted in none.
std::vector<Kernel> planted_gpu_kernels_of(const cli::Option& option);
bool is_plugin(std::string_view kernel);

}  // namespace swa::commands
