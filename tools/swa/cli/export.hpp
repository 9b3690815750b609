// Files that a command writes besides its standard output: --export.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace swa::cli {

struct ExportFile {
  std::string path;
  std::optional<report::Format> format;  // none: the figure

  bool is_figure() const { return !format; }
};

// ".csv, .json, .jsonl, .md or .txt", and .svg where the command has a figure.
std::string export_kinds(bool has_figure);

// The files of a comma-separated list, each of the kind that its suffix names. Throws UsageError
// for a suffix that is missing or not known, .svg where there is no figure, and a file named twice.
std::vector<ExportFile> parse_exports(std::string_view option, std::string_view text,
                                      bool has_figure);

// Throws UsageError where one of them cannot be written: no such folder, or one that lets nobody
// write here, or something that is no plain file of ours. To be called before any work is done.
void require_writable(std::string_view option, const std::vector<ExportFile>& files);

// Writes the report, or the figure (an SVG document), to each file. All are written under another
// name in the same folder first and take their own name once all are complete: a file that was
// there before stays as it was where this fails. Throws CannotRun where it does.
void write_exports(const std::vector<ExportFile>& files, const report::Report& report,
                   const std::string& figure);

}  // namespace swa::cli
