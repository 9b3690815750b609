#include "report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <stdexcept>
#include <utility>

#include "report/writers.hpp"

namespace swa::report {
namespace {

std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == '\x7f') c = ' ';
  }
  return line;
}

// fmt rejects a precision and the floating-point types for whole numbers.
bool wants_double(std::string_view format) {
  return format.find('.') != std::string_view::npos ||
         (!format.empty() && std::string_view("aAeEfFgG").find(format.back()) != std::string::npos);
}

template <typename Number>
std::string formatted(Number number, const Column& column) {
  return fmt::format(fmt::runtime("{:" + column.format + "}"), number) + column.suffix;
}

std::string shown(const Value& value, const Column& column) {
  return std::visit(
      Overloaded{
          [&](std::monostate) { return column.absent; },
          [](bool yes) { return std::string(yes ? "yes" : "no"); },
          [&](std::int64_t n) {
            return wants_double(column.format) ? formatted(static_cast<double>(n), column)
                                               : formatted(n, column);
          },
          [&](double x) { return std::isfinite(x) ? formatted(x, column) : exact(x); },
          [](const std::string& word) { return word; },
          [&](const Numbers& list) {
            return fmt::format("[{}]{}", fmt::join(list, ", "), column.suffix);
          },
          [](const Words& list) { return fmt::format("{}", fmt::join(list, ", ")); },
          [](const Objects& list) {
            return fmt::format("{}", fmt::join(first_members(list), ", "));
          },
      },
      value);
}

bool numeric(const Table& table, std::size_t column) {
  for (const auto& row : table.rows) {
    const Value& value = row[column];
    if (!std::holds_alternative<std::monostate>(value) &&
        !std::holds_alternative<std::int64_t>(value) && !std::holds_alternative<double>(value)) {
      return false;
    }
  }
  return true;
}

struct FormatName {
  std::string_view word;
  Format format;
};
constexpr std::array kFormats = {
    FormatName{"text", Format::text},   FormatName{"json", Format::json},
    FormatName{"jsonl", Format::jsonl}, FormatName{"csv", Format::csv},
    FormatName{"md", Format::md},       FormatName{"junit", Format::junit},
};

}  // namespace

Words first_members(const Objects& list) {
  Words words;
  for (const auto& object : list) words.push_back(object.empty() ? "" : object.front().second);
  return words;
}

std::vector<const Table*> tables(const Report& report) {
  std::vector<const Table*> found;
  for (const auto& block : report.blocks) {
    if (const auto* table = std::get_if<Table>(&block)) found.push_back(table);
  }
  return found;
}

std::string exact(double x) {
  return std::isnan(x) ? "nan" : fmt::format("{}", x);
}

Shown shown(const Table& table) {
  Shown result;
  result.rows.resize(table.rows.size());
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const Column& column = table.columns[j];
    if (column.show == Show::machine) continue;
    result.titles.push_back(one_line(column.title));
    result.numeric.push_back(numeric(table, j));
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      result.rows[i].push_back(one_line(shown(table.rows[i][j], column)));
    }
  }
  return result;
}

Record& Record::add(Column column, Value value) {
  columns_.push_back(std::move(column));
  row_.push_back(std::move(value));
  return *this;
}

Record& Record::hide(std::string key, Value value) {
  Column column{std::move(key)};
  column.show = Show::machine;
  return add(std::move(column), std::move(value));
}

Record& Record::hide(const Record& other) {
  for (std::size_t i = 0; i < other.columns_.size(); ++i) {
    hide(other.columns_[i].key, other.row_[i]);
  }
  return *this;
}

void append(Table& table, Record record) {
  if (table.rows.empty()) table.columns = record.columns_;
  const auto same_key = [](const Column& a, const Column& b) { return a.key == b.key; };
  if (!std::equal(table.columns.begin(), table.columns.end(), record.columns_.begin(),
                  record.columns_.end(), same_key)) {
    throw std::logic_error("records of one table differ in their columns");
  }
  table.rows.push_back(std::move(record.row_));
}

CodePoint decode(std::string_view text) {
  constexpr CodePoint kMalformed{kReplacement, 1};
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };

  const unsigned first = byte(0);
  if (first < 0x80) return {first, 1};
  std::size_t bytes = 0;
  if (first >> 5 == 0b110) bytes = 2;
  if (first >> 4 == 0b1110) bytes = 3;
  if (first >> 3 == 0b11110) bytes = 4;
  if (bytes == 0 || bytes > text.size()) return kMalformed;

  char32_t value = first & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (byte(i) >> 6 != 0b10) return kMalformed;
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kLeast[bytes] || value > 0x10FFFF || surrogate) return kMalformed;
  return {value, bytes};
}

std::optional<Format> parse_format(std::string_view word) {
  for (const FormatName& name : kFormats) {
    if (name.word == word) return name.format;
  }
  return std::nullopt;
}

std::vector<std::string> format_words(bool with_verdicts) {
  std::vector<std::string> words;
  for (const FormatName& name : kFormats) {
    if (with_verdicts || name.format != Format::junit) words.emplace_back(name.word);
  }
  return words;
}

std::string format_names(bool with_verdicts) {
  const std::vector<std::string> words = format_words(with_verdicts);
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

void write(const Report& report, Format format, std::ostream& out) {
  for (const Table* table : tables(report)) {
    for (const auto& row : table->rows) {
      if (row.size() != table->columns.size()) {
        throw std::logic_error(fmt::format("a row of table '{}' has {} cells for {} columns",
                                           table->name, row.size(), table->columns.size()));
      }
    }
  }
  // One string, written unformatted, keeps the stream's locale and flags out of the numbers.
  std::string written;
  switch (format) {
    case Format::text:
      write_text(report, written);
      break;
    case Format::json:
      write_json(report, written);
      break;
    case Format::jsonl:
      write_jsonl(report, written);
      break;
    case Format::csv:
      write_csv(report, written);
      break;
    case Format::md:
      write_markdown(report, written);
      break;
    case Format::junit:
      write_junit(report, written);
      break;
  }
  out.write(written.data(), static_cast<std::streamsize>(written.size()));
}

}  // namespace swa::report
