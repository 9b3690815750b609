#include <algorithm>

#include "report/writers.hpp"

namespace swa::report {
namespace {

struct Range {
  char32_t first, last;
};

bool any_holds(const auto& ranges, char32_t c) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [c](Range range) { return range.first <= c && c <= range.last; });
}

// Columns that a terminal gives a code point. The ranges are the blocks of East Asian wide signs
// and of emoji, and of marks that share the place of the letter before them; the C library knows
// more but depends on the locale.
std::size_t width(char32_t c) {
  constexpr Range kWide[] = {{0x1100, 0x115F},   {0x2E80, 0x303E},  {0x3040, 0xA4CF},
                             {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},  {0xFE30, 0xFE6F},
                             {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
                             {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
  constexpr Range kNone[] = {
      {0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}};
  if (any_holds(kNone, c)) return 0;
  return any_holds(kWide, c) ? 2 : 1;
}

std::size_t width(std::string_view text) {
  std::size_t columns = 0;
  while (!text.empty()) {
    const CodePoint c = decode(text);
    columns += width(c.value);
    text.remove_prefix(c.bytes);
  }
  return columns;
}

void write_row(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
               const std::vector<bool>& right, std::string& out) {
  std::string line;
  for (std::size_t j = 0; j < cells.size(); ++j) {
    const std::string padding(widths[j] - width(cells[j]), ' ');
    if (j > 0) line += "  ";
    line += right[j] ? padding + cells[j] : cells[j] + padding;
  }
  line.resize(line.find_last_not_of(' ') + 1);
  out += line + '\n';
}

void write_table(const std::string& title, const Shown& table, std::string& out) {
  std::vector<std::size_t> widths;
  for (std::size_t j = 0; j < table.titles.size(); ++j) {
    widths.push_back(width(table.titles[j]));
    for (const auto& row : table.rows) widths[j] = std::max(widths[j], width(row[j]));
  }
  if (!title.empty()) out += title + '\n';
  write_row(table.titles, widths, table.numeric, out);
  for (const auto& row : table.rows) write_row(row, widths, table.numeric, out);
}

}  // namespace

void write_text(const Report& report, std::string& out) {
  for (const auto& block : report.blocks) {
    std::string part;
    if (const auto* lines = std::get_if<Lines>(&block)) {
      for (const std::string& line : lines->lines) part += line + '\n';
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
