#include "cli/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "error.hpp"

namespace swa::cli {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

double machine_available() {
  std::ifstream file("/proc/meminfo");
  std::string key, unit;
  double kib = 0;
  while (file >> key >> kib) {
    std::getline(file, unit);
    if (key == "MemAvailable:") return kib * 1024;
  }
  return kUnknown;
}

// Control groups version 2; "max" is no number and leaves the limit unknown.
double cgroup_available() {
  double limit = 0, used = 0;
  std::ifstream limit_file("/sys/fs/cgroup/memory.max"), used_file("/sys/fs/cgroup/memory.current");
  if (limit_file >> limit && used_file >> used) return std::max(0.0, limit - used);
  return kUnknown;
}

std::string gib(double bytes) {
  return fmt::format("{:.1f} GiB", bytes / (1024.0 * 1024 * 1024));
}

}  // namespace

double available_memory() {
  return std::min(machine_available(), cgroup_available());
}

void require_memory(double bytes, const std::string& what) {
  const double available = available_memory();
  if (bytes <= 0.9 * available) return;
  throw CannotRun(fmt::format("{} needs about {} of memory, and {} are available", what, gib(bytes),
                              gib(available)),
                  "ask for a smaller problem, or run it on a larger machine");
}

}  // namespace swa::cli
