#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "report/writers.hpp"

namespace swa::report {
namespace {

constexpr std::int64_t kLargestExact = std::int64_t{1} << 53;

void append_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const CodePoint c = decode(text);
    switch (c.value) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case kReplacement:  // also what a malformed byte becomes, which no JSON reader would take
        out += "\xEF\xBF\xBD";
        break;
      default:
        if (c.value < 0x20) {
          fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c.value));
        } else {
          out += text.substr(0, c.bytes);
        }
    }
    text.remove_prefix(c.bytes);
  }
  out += '"';
}

// An object or an array, its members in the order in which they come.
class Members {
 public:
  // With an indent, each member has a line of its own, so many spaces in; without, all share one.
  Members(std::string& out, char open, char close, std::size_t indent = 0)
      : out_(out), close_(close), indent_(indent) {
    out_ += open;
  }
  void next() {
    if (!first_) out_ += indent_ > 0 ? "," : ", ";
    if (indent_ > 0) out_ += '\n' + std::string(indent_, ' ');
    first_ = false;
  }
  void key(std::string_view word) {
    next();
    append_string(out_, word);
    out_ += ": ";
  }
  void end() {
    if (indent_ > 0 && !first_) out_ += '\n' + std::string(indent_ - 2, ' ');
    out_ += close_;
  }

 private:
  std::string& out_;
  char close_;
  std::size_t indent_;
  bool first_ = true;
};

void append_integer(std::string& out, std::int64_t n) {
  const bool large = n > kLargestExact || n < -kLargestExact;
  fmt::format_to(std::back_inserter(out), fmt::runtime(large ? "\"{}\"" : "{}"), n);
}

template <typename List>
void append_list(std::string& out, const List& list, auto append_item) {
  Members items(out, '[', ']');
  for (const auto& item : list) {
    items.next();
    append_item(out, item);
  }
  items.end();
}

void append_object(std::string& out, const Objects::value_type& object) {
  Members members(out, '{', '}');
  for (const auto& [key, word] : object) {
    members.key(key);
    append_string(out, word);
  }
  members.end();
}

void append_value(std::string& out, const Value& value) {
  std::visit(Overloaded{
                 [&](std::monostate) { out += "null"; },
                 [&](bool yes) { out += yes ? "true" : "false"; },
                 [&](std::int64_t n) { append_integer(out, n); },
                 [&](double x) { out += std::isfinite(x) ? exact(x) : "null"; },
                 [&](const std::string& word) { append_string(out, word); },
                 [&](const Numbers& list) { append_list(out, list, append_integer); },
                 [&](const Words& list) { append_list(out, list, append_string); },
                 [&](const Objects& list) { append_list(out, list, append_object); },
             },
             value);
}

void append_fields(std::string& out, const Table& table, const std::vector<Value>& row,
                   Members& record) {
  if (!table.name.empty()) {
    record.key("record");
    append_string(out, table.name);
  }
  for (std::size_t j = 0; j < row.size(); ++j) {
    record.key(table.columns[j].key);
    append_value(out, row[j]);
  }
}

}  // namespace

void write_json(const Report& report, std::string& out) {
  Members top(out, '{', '}', 2);
  top.key("schema");
  append_string(out, report.schema);

  top.key("tool");
  Members tool(out, '{', '}');
  tool.key("name");
  append_string(out, "swa");
  tool.key("version");
  append_string(out, report.version);
  tool.end();

  top.key("device");
  append_value(out, report.device.empty() ? Value() : Value(report.device));
  top.key("argv");
  append_list(out, report.argv, append_string);

  top.key("records");
  Members records(out, '[', ']', 4);
  for (const Table* table : tables(report)) {
    for (const auto& row : table->rows) {
      records.next();
      Members record(out, '{', '}');
      append_fields(out, *table, row, record);
      record.end();
    }
  }
  records.end();

  top.key("summary");
  Members summary(out, '{', '}', 4);
  for (const auto& [key, value] : report.summary) {
    summary.key(key);
    append_value(out, value);
  }
  summary.end();
  top.end();
  out += '\n';
}

void write_jsonl(const Report& report, std::string& out) {
  for (const Table* table : tables(report)) {
    for (const auto& row : table->rows) {
      Members record(out, '{', '}');
      record.key("schema");
      append_string(out, report.schema);
      append_fields(out, *table, row, record);
      record.end();
      out += '\n';
    }
  }
}

}  // namespace swa::report
