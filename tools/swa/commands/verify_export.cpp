#include "commands/verify_export.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "commands/case_folders.hpp"
#include "error.hpp"
#include "memory.hpp"
#include "parallel.hpp"
#include "reference/oracle.hpp"
#include "terminal/interrupt.hpp"
#include "terminal/progress.hpp"
#include "verify/file_kernel.hpp"

namespace swa::commands {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

std::string size_text(double bytes) {
  return bytes < kGib ? fmt::format("{:.1f} MiB", bytes * 1024 / kGib)
                      : fmt::format("{:.1f} GiB", bytes / kGib);
}

// Throws CannotRun where the disk has no room for so much.
void require_room(const std::string& subject, const std::string& folder, double bytes) {
  std::error_code trouble;
  std::filesystem::path place = std::filesystem::absolute(folder, trouble);
  while (!std::filesystem::exists(place, trouble) && place.has_relative_path()) {
    place = place.parent_path();
  }
  const std::filesystem::space_info space = std::filesystem::space(place, trouble);
  if (!trouble && bytes > static_cast<double>(space.available)) {
    throw CannotRun(fmt::format("{}: the files take about {}, and {} are free there", subject,
                                size_text(bytes), size_text(static_cast<double>(space.available))),
                    "ask for fewer or smaller cases, or choose another disk");
  }
  if (bytes < kGib) return;
  std::fputs(
      fmt::format("swa verify: about {} are written to {}\n", size_text(bytes), folder).c_str(),
      stderr);
}

// Bytes on the disk, where the cases fit into memory one by one, and into one case file.
double require_sizes(const std::vector<Case>& cases) {
  const auto memory = [](const Case& c) {
    return oracle_bytes(c.problem) + file_memory(c.problem);
  };
  const Case* largest = &cases.front();
  double bytes = 0;
  std::size_t text = 0;
  for (const Case& c : cases) {
    if (memory(c) > memory(*largest)) largest = &c;
    bytes += export_bytes(c.problem);
    text += to_toml(c).size() + 1;
  }
  require_memory(memory(*largest), fmt::format("the problem '{}'", options(largest->problem)));
  constexpr std::size_t kMostText = 15 << 20;  // a reader takes 16 MiB
  if (text > kMostText) {
    throw UsageError(
        fmt::format("{} cases make a case file of {} MiB, which nobody would read again",
                    cases.size(), text >> 20),
        "export them in several folders");
  }
  return bytes;
}

report::Record record_of(const Case& c) {
  report::Record record;
  record.add({"case", "case"}, c.name)
      .add({"options", "options"}, options(c.problem))
      .add({"launches", "probe launches"}, exported_launches(c.problem))
      .add({"bytes", "bytes"}, static_cast<Index>(export_bytes(c.problem)));
  return record;
}

std::string comment() {
  return fmt::format(
      "# Written by swa {}. Each case is the name of a folder beside this file.\n"
      "# `swa verify check` judges the outputs; docs/files.md says how to write them.\n",
      SWA_VERSION);
}

// Whether all of them were written.
bool write_all(NewFolder& target, const std::vector<Case>& cases) {
  const terminal::StopOnInterrupt stop;
  terminal::Progress progress("verify export", cases.size());
  try {
    target.make(target.path());
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (stop_requested()) return false;
      const Case& c = cases[i];
      progress.update(i, c.name);
      export_case(fmt::format("{}/{}", target.path(), c.name), c.problem, make_inputs(c.problem),
                  [&](const std::string& path) { target.make(path); });
    }
  } catch (const Stopped&) {
    return false;
  }
  target.write_cases(comment(), cases);
  target.keep();
  return true;
}

}  // namespace

cli::Outcome export_cases(const std::vector<Case>& unnamed, const std::string& folder) {
  const std::string subject = "--out " + folder;
  const std::vector<Case> cases = name_folders(unnamed);
  NewFolder target(subject, folder);
  const double bytes = require_sizes(cases);
  require_room(subject, folder, bytes);
  cli::Outcome outcome;
  outcome.report.schema = "swa.verify.export/1";
  const bool complete = write_all(target, cases);
  outcome.report.summary = {{"folder", folder},
                            {"cases", static_cast<Index>(complete ? cases.size() : 0)},
                            {"bytes", bytes},
                            {"interrupted", !complete}};
  if (!complete) {
    const std::string what = "nothing was exported";
    terminal::say_interrupted(what);
    outcome.report.interrupted = what;
    outcome.report.blocks = {report::Lines{{"interrupted: " + what}}};
    outcome.status = terminal::kInterrupted;
    return outcome;
  }
  report::Table table;
  for (const Case& c : cases) append(table, record_of(c));
  outcome.report.blocks = {
      table,
      report::Lines{
          {fmt::format("{} in {}, {:.1f} MiB",
                       cases.size() == 1 ? "1 case is" : fmt::format("{} cases are", cases.size()),
                       folder, bytes / (1024 * 1024)),
           "run the kernel on each folder, then: swa verify check " + folder}}};
  return outcome;
}

}  // namespace swa::commands
