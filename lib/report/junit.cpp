#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "report/writers.hpp"
#include "report/xml.hpp"

namespace swa::report {
namespace {

std::string attribute(std::string_view name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, xml_attribute(value));
}

std::optional<std::size_t> find_column(const Table& table, const std::string& key) {
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    if (table.columns[j].key == key) return j;
  }
  return std::nullopt;
}

// The cell of a row as words; empty where the table has no such column.
std::string cell(const Table& table, const std::vector<Value>& row, const std::string& key) {
  const std::optional<std::size_t> column = find_column(table, key);
  return column ? plain(row[*column]) : std::string();
}

struct Counts {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;

  void add(const Counts& more) {
    tests += more.tests;
    failures += more.failures;
    errors += more.errors;
    skipped += more.skipped;
  }
  std::string attributes() const {
    return fmt::format(R"( tests="{}" failures="{}" errors="{}" skipped="{}")", tests, failures,
                       errors, skipped);
  }
};

class Suite {
 public:
  Suite(const Verdicts& verdicts, const Table& table, std::string name)
      : verdicts_(verdicts), table_(table), name_(std::move(name)) {
    for (const auto& row : table.rows) add(row);
  }

  const Counts& counts() const { return counts_; }
  void write(std::string& out) const {
    out += fmt::format("  <testsuite{}{}>\n{}  </testsuite>\n", attribute("name", name_),
                       counts_.attributes(), cases_);
  }

 private:
  void add(const std::vector<Value>& row) {
    const std::string verdict = cell(table_, row, verdicts_.key);
    cases_ += fmt::format("    <testcase{}{}", attribute("classname", name_),
                          attribute("name", case_name(row)));
    ++counts_.tests;
    if (is_one_of(verdict, verdicts_.passed)) {
      cases_ += "/>\n";
      return;
    }
    const std::string why = cell(table_, row, verdicts_.reason);
    const std::string message = why.empty() ? verdict : verdict + ": " + why;
    if (is_one_of(verdict, verdicts_.skipped)) {
      ++counts_.skipped;
      cases_ += fmt::format(">\n      <skipped{}/>\n", attribute("message", message));
    } else {
      const bool broken = is_one_of(verdict, verdicts_.broken);
      ++(broken ? counts_.errors : counts_.failures);
      const char* element = broken ? "error" : "failure";
      cases_ +=
          fmt::format(">\n      <{0}{1}{2}>{3}</{0}>\n", element, attribute("message", message),
                      attribute("type", verdict), xml_text(record(row)));
    }
    cases_ += "    </testcase>\n";
  }

  static bool is_one_of(const std::string& word, const std::vector<std::string>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  }

  std::string case_name(const std::vector<Value>& row) const {
    std::vector<std::string> parts;
    for (const std::string& key : verdicts_.names) parts.push_back(cell(table_, row, key));
    std::erase(parts, std::string());
    return fmt::format("{}", fmt::join(parts, ": "));
  }

  // Every cell that is not null, a line each.
  std::string record(const std::vector<Value>& row) const {
    std::string text = "\n";
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (std::holds_alternative<std::monostate>(row[j])) continue;
      fmt::format_to(std::back_inserter(text), "{}: {}\n", table_.columns[j].key, plain(row[j]));
    }
    return text;
  }

  const Verdicts& verdicts_;
  const Table& table_;
  std::string name_;
  std::string cases_;
  Counts counts_;
};

// The suite of a run that did not come to its end: one error, so that nobody takes what it left
// out for passed.
Counts write_interrupted(const std::string& name, const std::string& known, std::string& out) {
  const Counts counts{.tests = 1, .errors = 1};
  out += fmt::format(
      "  <testsuite{0}{1}>\n    <testcase{2}{3}>\n      <error{4}{5}/>\n    </testcase>\n"
      "  </testsuite>\n",
      attribute("name", name + ".interrupted"), counts.attributes(), attribute("classname", name),
      attribute("name", "interrupted"), attribute("message", "interrupted: " + known),
      attribute("type", "interrupted"));
  return counts;
}

}  // namespace

void write_junit(const Report& report, std::string& out) {
  if (report.verdicts.key.empty()) throw std::logic_error("junit of a report without verdicts");
  // "swa.verify" of "swa.verify/1".
  const std::string name = report.schema.substr(0, report.schema.find('/'));
  Counts total;
  std::string suites;
  for (const Table* table : tables(report)) {
    if (!find_column(*table, report.verdicts.key)) continue;
    const Suite suite(report.verdicts, *table,
                      table->name.empty() ? name : name + '.' + table->name);
    total.add(suite.counts());
    suite.write(suites);
  }
  if (!report.interrupted.empty()) total.add(write_interrupted(name, report.interrupted, suites));
  out += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites{}{}>\n{}</testsuites>\n", attribute("name", name),
                     total.attributes(), suites);
}

}  // namespace swa::report
