// Results once, writers many. A Report is what a command found; the writers turn it into text,
// json, jsonl, csv, md or junit. This room knows nothing of attention.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace swa::report {

// A list of whole numbers or of words, for cells that hold several values.
using Numbers = std::vector<std::int64_t>;
using Words = std::vector<std::string>;
// A list of objects whose members are words, in order. People and csv see the first member of each.
using Objects = std::vector<std::vector<std::pair<std::string, std::string>>>;
// monostate prints as null, and as "-" for people. NaN and infinities are null in JSON, and nan,
// inf and -inf elsewhere. An int64 beyond 2^53 in magnitude is a decimal string in JSON, so that no
// reader that keeps numbers as doubles loses digits. Strings are UTF-8; in JSON each malformed byte
// becomes U+FFFD.
using Value =
    std::variant<std::monostate, bool, std::int64_t, double, std::string, Numbers, Words, Objects>;

inline Value or_null(const std::optional<std::int64_t>& value) {
  return value ? Value(*value) : Value();
}

enum class Show : std::uint8_t {
  everywhere,  // text, md and the machine formats
  machine,     // json, jsonl and csv only
};

struct Column {
  std::string key;          // the word of JSON and of the CSV header, e.g. "n_q"
  std::string title = {};   // heading for people
  std::string format = {};  // fmt specification for people, such as ".2f"; empty: exact
  Show show = Show::everywhere;
  std::string suffix = {};   // follows a finite number, or a list of them, for people: "x", "%"
  std::string absent = "-";  // null, for people
};

struct Table {
  std::string name;   // "record" of each of its records, in the machine formats; empty: left out
  std::string title;  // heading for people; may be empty
  std::vector<Column> columns;
  std::vector<std::vector<Value>> rows;  // each as long as columns
};

// A row that is built cell by cell, each cell beside its column.
class Record {
 public:
  Record& add(Column column, Value value);
  // A cell of the machine formats only.
  Record& hide(std::string key, Value value);
  // All cells of another record, for the machine formats only.
  Record& hide(const Record& other);

 private:
  friend void append(Table& table, Record record);
  std::vector<Column> columns_;
  std::vector<Value> row_;
};

// The first record gives the table its columns. Throws std::logic_error where a later one has
// others.
void append(Table& table, Record record);

// Preformatted lines for people (drawings, sentences); the machine formats leave them out.
struct Lines {
  std::vector<std::string> lines;
};

// How a CI system is to read a report: the column that judges each record, and what its words mean.
struct Verdicts {
  std::string key;                 // of that column; empty: nothing was judged
  std::vector<std::string> names;  // the columns that together name a test case
  std::string reason;              // the column that says why; may be empty
  // Words of the column. Any other one is a failure, so that a word forgotten here never passes.
  std::vector<std::string> passed = {};
  std::vector<std::string> skipped = {};
  std::vector<std::string> broken = {};  // no answer came: an error
};

struct Report {
  std::string schema;                                  // such as "swa.tile-map/1"
  std::vector<std::string> argv;                       // without the program's name
  std::string version;                                 // of the tool
  std::string device;                                  // empty: null
  std::vector<std::pair<std::string, Value>> summary;  // JSON object "summary"; not shown in text
  std::vector<std::variant<Lines, Table>> blocks;      // in the order in which people read them
  Verdicts verdicts = {};                              // for junit alone
  std::string interrupted = {};  // for junit alone: what is known; empty: the run came to its end
};

enum class Format : std::uint8_t { text, json, jsonl, csv, md, junit };
std::optional<Format> parse_format(std::string_view word);
// The formats of a report without verdicts, or of one with: only the latter has junit.
std::vector<std::string> format_words(bool with_verdicts = false);
std::string format_names(bool with_verdicts = false);  // "text, json, jsonl, csv or md"

// json: one object {schema, tool: {name, version}, device, argv, records: [...], summary}: a record
//       for each row of each table, in order.
// jsonl: a record a line, each opening with "schema".
// csv: RFC 4180, but lines end in a bare newline as other tools of a pipe expect; one header; with
//      several tables of different columns, each its own header after an empty line. Numbers in
//      full precision, null as an empty cell, the empty string as "", lists joined by spaces.
// md: tables as Markdown, lines in a fenced block.
// text: aligned columns, numbers to the right; lines as they are.
// junit: JUnit's XML as CI systems read it: a test suite for each table, a test case for each
//       record with a verdict. A case that did not pass carries its record. A run that was
//       interrupted has one more case, an error. Code points that XML 1.0 cannot hold become
//       U+FFFD.
// Tables with machine columns only are left out of text and md.
// Throws std::logic_error, before anything is written, if a row is not as long as its columns
// or junit is asked of a report without verdicts, and
// fmt::format_error if a column's format does not fit its numbers.
void write(const Report& report, Format format, std::ostream& out);

}  // namespace swa::report
