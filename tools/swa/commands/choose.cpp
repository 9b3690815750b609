#include "commands/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "cli/suggest.hpp"
#include "cli/values.hpp"
#include "error.hpp"
#include "kernels/forward.hpp"
#include "memory.hpp"
#include "verify/faults.hpp"
#include "verify/plugin.hpp"

namespace swa::commands {
namespace {

constexpr std::string_view kPlanted = "planted:";
constexpr std::string_view kPlugin = "plugin:";

void check_path(const cli::Option& option, const std::string& path) {
  if (path.empty()) {
    throw UsageError(fmt::format("{} {} names no file", option.name, kPlugin),
                     "give the path of a shared library, such as plugin:./libmine.so");
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(path.begin(), path.end(), is_control)) {
    throw UsageError(fmt::format("{} {}{} has a control character", option.name, kPlugin, path),
                     "rename the file, or link to it");
  }
  if (!std::filesystem::exists(path) && option.text.find(',') != std::string::npos) {
    throw UsageError(
        fmt::format("{} {}{}: that file does not exist", option.name, kPlugin, path),
        "a comma separates kernels, so a path cannot hold one: rename the file, or link to it");
  }
}

}  // namespace

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
      if (gpu_absence.empty()) break;  // then it is there, or nowhere
      if (matches(family, pattern) || matches(pattern, family)) {
        throw CannotRun(
            fmt::format("{} '{}' names GPU kernels, and {}", option.name, pattern, gpu_absence),
            remedy);
      }
    }
    if (pattern.starts_with(kPlugin)) {
      throw UsageError(fmt::format("{} '{}' names a plug-in", option.name, pattern),
                       "only swa verify runs plug-ins");
    }
    if (std::error_code trouble; std::filesystem::is_regular_file(pattern, trouble)) {
      throw UsageError(fmt::format("{} '{}' names no kernel, but a file", option.name, pattern),
                       fmt::format("swa verify runs it as {}{}", kPlugin, pattern));
    }
    throw UsageError(fmt::format("{} '{}' names no kernel", option.name, pattern),
                     cli::did_you_mean(pattern, names));
  }
  return chosen;
}

std::vector<Kernel> plugin_kernels(const cli::Option& option, double timeout) {
  PluginOptions options;
  options.timeout = timeout;
  options.memory = spare_bytes();
  options.device_absence = gpu_absence();
  std::vector<std::string> paths;
  for (const std::string& item : cli::split(option.name, option.text)) {
    if (!item.starts_with(kPlugin)) continue;
    const std::string path = item.substr(kPlugin.size());
    check_path(option, path);
    const bool twice = std::find(paths.begin(), paths.end(), path) != paths.end();
    if (!twice) paths.push_back(path);
  }
  std::vector<Kernel> kernels;
  for (const std::string& path : paths) kernels.push_back(plugin_kernel(path, options));
  return kernels;
}

namespace {

// Faults whose names match; at least one.
FaultSet matching_faults(const cli::Option& option, const std::string& pattern) {
  FaultSet found;
  std::vector<std::string> names;
  for (const Fault& f : faults()) {
    names.emplace_back(f.name);
    if (matches(pattern, f.name)) found.push_back(&f);
  }
  if (!found.empty()) return found;
  throw UsageError(
      fmt::format("{} '{}{}' names no fault of the catalogue", option.name, kPlanted, pattern),
      cli::did_you_mean(pattern, names, "swa verify --list-faults prints their names"));
}

}  // namespace

std::vector<Kernel> planted_kernels(const cli::Option& option, TileShape tile) {
  std::vector<Kernel> kernels;
  for (const std::string& item : cli::split(option.name, option.text)) {
    if (!item.starts_with(kPlanted)) continue;
    FaultSet together;
    std::istringstream patterns(item.substr(kPlanted.size()));
    std::string pattern;
    while (std::getline(patterns, pattern, '+')) {
      const FaultSet found = matching_faults(option, pattern);
      together.insert(together.end(), found.begin(), found.end());
    }
    const bool joined = item.find('+') != std::string::npos;
    if (joined) kernels.push_back(planted_kernel(together, tile));
    for (const Fault* f : together) {
      if (!joined) kernels.push_back(planted_kernel({f}, tile));
    }
  }
  return kernels;
}

std::vector<Kernel> planted_gpu_kernels_of(const cli::Option& option) {
  const std::vector<std::string> names = planted_gpu_faults();
  bool any = false;
  for (const std::string& item : cli::split(option.name, option.text)) {
    if (!item.starts_with(kPlantedGpu)) continue;
    any = true;
    const std::string pattern = item.substr(kPlantedGpu.size());
    const bool known = std::any_of(names.begin(), names.end(),
                                   [&](const std::string& name) { return matches(pattern, name); });
    if (known) continue;
    throw UsageError(
        fmt::format("{} '{}' names no fault that is planted on the GPU", option.name, item),
        cli::did_you_mean(pattern, names));
  }
  return any ? planted_gpu_kernels() : std::vector<Kernel>();
}

bool is_plugin(std::string_view kernel) {
  return kernel.starts_with(kPlugin);
}

}  // namespace swa::commands
