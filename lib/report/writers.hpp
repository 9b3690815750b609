// What the writers share. Private to this room.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace swa::report {

// Each appends to out.
void write_text(const Report& report, std::string& out);
void write_json(const Report& report, std::string& out);
void write_jsonl(const Report& report, std::string& out);
void write_csv(const Report& report, std::string& out);
void write_markdown(const Report& report, std::string& out);
void write_junit(const Report& report, std::string& out);

// For std::visit.
template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

std::vector<const Table*> tables(const Report& report);

// What people and csv see of objects.
Words first_members(const Objects& list);

// A value as a cell of CSV before it is quoted: numbers in full, lists joined by blanks, null
// empty.
std::string plain(const Value& value);

// Shortest digits that read back as the same double; nan (of either sign), inf or -inf.
std::string exact(double x);

// The part of a table that people see, as words. No cell holds a control character, so each stays
// on its line.
struct Shown {
  std::vector<std::string> titles;
  std::vector<bool> numeric;  // all non-null cells of the column are numbers
  std::vector<std::vector<std::string>> rows;
};
Shown shown(const Table& table);

struct CodePoint {
  char32_t value;
  std::size_t bytes;
};
inline constexpr char32_t kReplacement = 0xFFFD;
// The first code point of a text that is not empty; kReplacement of one byte if it is malformed.
CodePoint decode(std::string_view text);

}  // namespace swa::report
