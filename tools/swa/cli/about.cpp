#include "cli/about.hpp"

#include <fmt/format.h>

#include <CLI/Version.hpp>

#include "kernels/about.hpp"
#include "kernels/forward.hpp"
#include "model/libraries.hpp"
#include "reference/libraries.hpp"
#include "tensor/libraries.hpp"

namespace swa::cli {
namespace {

std::string fmt_version() {
  return fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
}

report::Value word_or_null(const std::string& word) {
  return word.empty() ? report::Value() : report::Value(word);
}

double gib(const device::Facts& gpu) {
  return static_cast<double>(gpu.memory) / 0x1p30;
}

std::string compute_capability(const device::Facts& gpu) {
  return fmt::format("{}.{}", gpu.major, gpu.minor);
}

std::string compiled_in(const CudaFacts& cuda) {
  return fmt::format("{}, kernels for {}", cuda.runtime, cuda.archs);
}

std::string driver_words(const CudaFacts& cuda) {
  return cuda.driver.empty() ? "none" : fmt::format("for CUDA up to {}", cuda.driver);
}

std::string no_device(const CudaFacts& cuda) {
  return cuda.devices.empty() ? "none" : "not used";
}

std::string line(std::string_view title, std::string_view text) {
  return fmt::format("{:<11} {}", title, text);
}

std::vector<std::string> cuda_lines(const CudaFacts& cuda) {
  const std::string absence = gpu_absence();
  if (cuda.runtime.empty()) return {line("CUDA", "none, " + absence), line("device", "none")};
  std::vector<std::string> lines{line("CUDA", compiled_in(cuda)),
                                 line("driver", driver_words(cuda))};
  for (const device::Facts& gpu : cuda.devices) {
    lines.push_back(line(
        "device", fmt::format("{}, compute capability {}, {} multiprocessors, {:.1f} GiB", gpu.name,
                              compute_capability(gpu), gpu.multiprocessors, gib(gpu))));
  }
  if (!absence.empty()) lines.push_back(line("device", no_device(cuda) + ", " + absence));
  return lines;
}

report::Table device_table(const std::vector<device::Facts>& gpus) {
  report::Table table;
  for (const device::Facts& gpu : gpus) {
    report::Record record;
    record.add({"name", "device"}, gpu.name)
        .add({"compute_capability", "compute capability"}, compute_capability(gpu))
        .add({"multiprocessors"}, std::int64_t{gpu.multiprocessors})
        .add({"memory_gib", "memory GiB", ".1f"}, gib(gpu))
        .hide("memory_bytes", static_cast<std::int64_t>(gpu.memory));
    append(table, record);
  }
  return table;
}

}  // namespace

report::Report version_report() {
  struct Fact {
    std::string key, title, value;
  };
  const std::vector<Fact> facts{
      {"compiler", "compiler", SWA_COMPILER},
      {"build_type", "build type", SWA_BUILD_TYPE},
      {"cli11", "CLI11", CLI11_VERSION},
      {"fmt", "fmt", fmt_version()},
      {"eigen", "Eigen", eigen_version()},
      {"tomlplusplus", "toml++", toml_version()},
      {"nlohmann_json", "nlohmann", json_version()},
  };
  report::Lines lines{{"swa " SWA_VERSION}};
  report::Record record;
  record.hide("version", std::string(SWA_VERSION));
  for (const Fact& fact : facts) {
    lines.lines.push_back(line(fact.title, fact.value));
    record.hide(fact.key, fact.value);
  }
  const CudaFacts cuda = cuda_facts();
  for (const std::string& said : cuda_lines(cuda)) lines.lines.push_back(said);
  record.hide("cuda", word_or_null(cuda.runtime))
      .hide("cuda_archs", word_or_null(cuda.archs))
      .hide("driver", word_or_null(cuda.driver))
      .hide("device", word_or_null(cuda.devices.empty() ? "" : cuda.devices.front().name));
  report::Report report;
  report.schema = "swa.version/1";
  report.blocks.push_back(lines);
  report::Table table;
  append(table, record);
  report.blocks.push_back(table);
  return report;
}

report::Report devices_report() {
  const CudaFacts cuda = cuda_facts();
  const std::string absence = gpu_absence();
  report::Lines lines;
  if (!cuda.runtime.empty()) {
    lines.lines.push_back(
        fmt::format("CUDA: {}; driver: {}", compiled_in(cuda), driver_words(cuda)));
  }
  if (!absence.empty()) lines.lines.push_back(no_device(cuda) + ": " + absence);
  report::Report report;
  report.schema = "swa.devices/1";
  report.blocks.push_back(lines);
  if (!cuda.devices.empty()) report.blocks.push_back(device_table(cuda.devices));
  report.summary = {{"devices", static_cast<std::int64_t>(cuda.devices.size())},
                    {"reason", word_or_null(absence)},
                    {"cuda", word_or_null(cuda.runtime)},
                    {"driver", word_or_null(cuda.driver)}};
  return report;
}

}  // namespace swa::cli
