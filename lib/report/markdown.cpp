#include <fmt/format.h>

#include <algorithm>

#include "report/writers.hpp"

namespace swa::report {
namespace {

// A pipe would end the cell; the others would turn letters into markup.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::string_view("|\\*`<").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

void write_row(const std::vector<std::string>& cells, std::string& out) {
  for (const std::string& cell : cells) out += fmt::format("| {} ", escaped(cell));
  out += "|\n";
}

void write_table(const std::string& title, const Shown& table, std::string& out) {
  if (!title.empty()) out += fmt::format("### {}\n\n", escaped(title));
  write_row(table.titles, out);
  for (const bool right : table.numeric) out += right ? "| ---: " : "| --- ";
  out += "|\n";
  for (const auto& row : table.rows) write_row(row, out);
}

void write_lines(const std::vector<std::string>& lines, std::string& out) {
  // A fence must be longer than any in the lines, which would close it.
  std::string fence = "```";
  const auto holds_fence = [&](const std::string& line) {
    return line.find(fence) != std::string::npos;
  };
  while (std::any_of(lines.begin(), lines.end(), holds_fence)) fence += '`';
  out += fence + "text\n";
  for (const std::string& line : lines) out += line + '\n';
  out += fence + '\n';
}

}  // namespace

void write_markdown(const Report& report, std::string& out) {
  for (const auto& block : report.blocks) {
    std::string part;
    if (const auto* lines = std::get_if<Lines>(&block)) {
      if (!lines->lines.empty()) write_lines(lines->lines, part);
    } else {
      const Table& table = std::get<Table>(block);
      const Shown seen = shown(table);
      if (!seen.titles.empty()) write_table(table.title, seen, part);
    }
    if (part.empty()) continue;
    if (!out.empty()) out += '\n';
    out += part;
  }
}

}  // namespace swa::report
