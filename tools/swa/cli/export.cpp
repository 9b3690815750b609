#include "cli/export.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>

#include "cli/values.hpp"
#include "error.hpp"
#include "file.hpp"

namespace swa::cli {
namespace {

namespace fs = std::filesystem;

std::string subject_of(std::string_view option, const std::string& path) {
  return fmt::format("{} {}", option, path);
}

std::optional<ExportFile> parse_one(const std::string& path, bool has_figure) {
  const std::string suffix = fs::path(path).extension().string();
  if (suffix == ".txt") return ExportFile{path, report::Format::text};
  if (suffix == ".svg" && has_figure) return ExportFile{path, std::nullopt};
  if (suffix.empty() || suffix == ".text") return std::nullopt;
  const auto format = report::parse_format(suffix.substr(1));
  if (!format) return std::nullopt;
  return ExportFile{path, format};
}

}  // namespace

std::string export_kinds(bool has_figure) {
  return has_figure ? ".svg, .csv, .json, .jsonl, .md or .txt" : ".csv, .json, .jsonl, .md or .txt";
}

std::vector<ExportFile> parse_exports(std::string_view option, std::string_view text,
                                      bool has_figure) {
  std::vector<ExportFile> files;
  std::set<fs::path> targets;
  for (const std::string& path : split(option, text)) {
    const std::string subject = subject_of(option, path);
    const std::optional<ExportFile> file = parse_one(path, has_figure);
    if (!file) {
      const bool figure = fs::path(path).extension() == ".svg";
      throw UsageError(
          fmt::format("{}: {}", subject,
                      figure ? "this command has no figure" : "the suffix names no kind of file"),
          fmt::format("the name must end in {}", export_kinds(has_figure)));
    }
    if (!targets.insert(target_of(subject, path)).second) {
      throw UsageError(fmt::format("{}: the file was named more than once", subject),
                       "give each file once");
    }
    files.push_back(*file);
  }
  return files;
}

void require_writable(std::string_view option, const std::vector<ExportFile>& files) {
  for (const ExportFile& file : files) {
    swa::require_writable(subject_of(option, file.path), file.path);
  }
}

void write_exports(const std::vector<ExportFile>& files, const report::Report& report,
                   const std::string& figure) {
  if (files.empty()) return;
  const Undisturbed undisturbed;
  std::vector<PendingFile> pending;
  for (const ExportFile& file : files) {
    if (file.is_figure() && figure.empty()) throw std::logic_error("a figure was not drawn");
    std::ostringstream text;
    if (!file.is_figure()) report::write(report, *file.format, text);
    const std::string content = file.is_figure() ? figure : text.str();
    pending.emplace_back(subject_of("--export", file.path), file.path,
                         "the report itself is not lost: it went to standard output");
    pending.back().write(std::as_bytes(std::span(content)));
    pending.back().finish();
  }
  for (PendingFile& file : pending) file.take_name();
}

}  // namespace swa::cli
