#include "cli/about.hpp"

#include <fmt/format.h>

#include <CLI/Version.hpp>

#include "kernels/forward.hpp"
#include "model/libraries.hpp"
#include "reference/libraries.hpp"
#include "tensor/libraries.hpp"

namespace swa::cli {
namespace {

std::string fmt_version() {
  return fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
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
    lines.lines.push_back(fmt::format("{:<11} {}", fact.title, fact.value));
    record.hide(fact.key, fact.value);
  }
  record.hide("cuda", {}).hide("device", {});
  lines.lines.push_back(fmt::format("{:<11} none, {}", "CUDA", gpu_absence()));
  lines.lines.push_back(fmt::format("{:<11} none", "device"));
  report::Report report;
  report.schema = "swa.version/1";
  report.blocks.push_back(lines);
  report::Table table;
  append(table, record);
  report.blocks.push_back(table);
  return report;
}

report::Report devices_report() {
  report::Report report;
  report.schema = "swa.devices/1";
  report.blocks.push_back(report::Lines{{"none: " + gpu_absence()}});
  report.summary = {{"devices", std::int64_t{0}}, {"reason", gpu_absence()}};
  return report;
}

}  // namespace swa::cli
