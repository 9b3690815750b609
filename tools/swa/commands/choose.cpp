#include "commands/choose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/suggest.hpp"
#include "cli/values.hpp"
#include "error.hpp"
#include "kernels/forward.hpp"

namespace swa::commands {

std::vector<std::size_t> choose_names(const cli::Option& option,
                                      const std::vector<std::string>& names,
                                      const std::string& gpu_absence, const std::string& remedy) {
  std::vector<std::size_t> chosen;
  for (const std::string& pattern : cli::split(option.name, option.text)) {
    bool any = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!matches(pattern, names[i])) continue;
      any = true;
      const bool twice = std::find(chosen.begin(), chosen.end(), i) != chosen.end();
      if (!twice) chosen.push_back(i);
    }
    if (any) continue;
    for (const std::string_view family : gpu_kernel_families()) {
      if (matches(family, pattern) || matches(pattern, family)) {
        throw CannotRun(
            fmt::format("{} '{}' names GPU kernels, and {}", option.name, pattern, gpu_absence),
            remedy);
      }
    }
    throw UsageError(fmt::format("{} '{}' names no kernel", option.name, pattern),
                     cli::did_you_mean(pattern, names));
  }
  return chosen;
}

}  // namespace swa::commands
