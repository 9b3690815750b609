#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/writers.hpp"

namespace swa::report {
namespace {

std::string quoted(std::string_view text) {
  // The quotes of an empty string tell it from null.
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

bool is_text(const Value& value) {
  return std::holds_alternative<std::string>(value) || std::holds_alternative<Numbers>(value) ||
         std::holds_alternative<Words>(value) || std::holds_alternative<Objects>(value);
}

std::string cell(const Value& value) {
  return is_text(value) ? quoted(plain(value)) : plain(value);
}

void write_line(const std::vector<std::string>& cells, std::string& out) {
  const std::string line = fmt::format("{}", fmt::join(cells, ","));
  // An empty line stands between tables, so a lone null takes the form of an empty string.
  out += (line.empty() ? "\"\"" : line) + '\n';
}

}  // namespace

std::string plain(const Value& value) {
  return std::visit(Overloaded{
                        [](std::monostate) { return std::string(); },
                        [](bool yes) { return std::string(yes ? "true" : "false"); },
                        [](std::int64_t n) { return fmt::format("{}", n); },
                        [](double x) { return exact(x); },
                        [](const std::string& word) { return word; },
                        [](const Objects& list) {
                          return fmt::format("{}", fmt::join(first_members(list), " "));
                        },
                        [](const auto& list) { return fmt::format("{}", fmt::join(list, " ")); },
                    },
                    value);
}

void write_csv(const Report& report, std::string& out) {
  std::vector<std::string> header;
  for (const Table* table : tables(report)) {
    if (table->columns.empty()) continue;
    std::vector<std::string> keys;
    if (!table->name.empty()) keys.push_back("record");
    for (const Column& column : table->columns) keys.push_back(quoted(column.key));
    if (keys != header) {
      if (!header.empty()) out += '\n';
      write_line(keys, out);
      header = keys;
    }
    for (const auto& row : table->rows) {
      std::vector<std::string> cells;
      if (!table->name.empty()) cells.push_back(quoted(table->name));
      for (const Value& value : row) cells.push_back(cell(value));
      write_line(cells, out);
    }
  }
}

}  // namespace swa::report
