#include "memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "error.hpp"

namespace swa {
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

// Control groups version 2. File pages that were not used lately count as used there, but are given
// back on demand. "max" is no number and leaves the limit unknown.
double cgroup_available() {
  double limit = 0, used = 0;
  std::ifstream limit_file("/sys/fs/cgroup/memory.max"), used_file("/sys/fs/cgroup/memory.current");
  if (!(limit_file >> limit && used_file >> used)) return kUnknown;
  std::ifstream parts("/sys/fs/cgroup/memory.stat");
  std::string key;
  double bytes = 0;
  while (parts >> key >> bytes) {
    if (key == "inactive_file") used -= bytes;
  }
  return std::max(0.0, limit - used);
}

std::string gib(double bytes) {
  return fmt::format("{:.1f} GiB", bytes / (1024.0 * 1024 * 1024));
}

double available_bytes() {
  // What passes 2^62 bytes is refused even where nothing is known.
  return std::min({machine_available(), cgroup_available(), std::ldexp(1.0, 62)});
}

}  // namespace

double spare_bytes() {
  return 0.9 * available_bytes();
}

void require_memory(double bytes, const std::string& what) {
  const double available = available_bytes();
  if (bytes <= 0.9 * available) return;
  throw CannotRun(fmt::format("{} needs about {} of memory, and {} are available", what, gib(bytes),
                              gib(available)),
                  "ask for a smaller problem, or run it on a larger machine");
}

double peak_bytes() {
  // Not getrusage(): its maximum survives exec, so that it may be that of the program that started
  // this one.
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return 1024 * std::stod(line.substr(6));
  }
  rusage used{};  // where /proc is not mounted
  getrusage(RUSAGE_SELF, &used);
  return 1024 * static_cast<double>(used.ru_maxrss);
}

}  // namespace swa
