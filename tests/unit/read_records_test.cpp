// Records read back: what the writers write, and files that no writer wrote.
#include "report/read_records.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "error.hpp"
#include "scratch.hpp"

using namespace swa;
using namespace swa::report;
using std::string;
using swa::test::Scratch;

namespace {

constexpr std::int64_t kTwo53 = 9007199254740992;

// What was refused, without the folder of the file; empty where nothing was.
string complaint_of(const Scratch& scratch, const string& path) {
  try {
    read_records(path);
  } catch (const UsageError& error) {
    CHECK_FALSE(error.remedy().empty());
    return scratch.without_folder(error.what());
  }
  return {};
}
string complaint(const string& text) {
  const Scratch scratch;
  return complaint_of(scratch, scratch.write("a.json", text));
}

std::vector<ReadRecord> read(const string& text) {
  const Scratch scratch;
  return read_records(scratch.write("a.json", text));
}

// The one cell of the one record of a report.
Value cell(const string& json) {
  const auto records = read(R"({"records": [{"v": )" + json + "}]}");
  REQUIRE(records.size() == 1);
  REQUIRE(records[0].cells.size() == 1);
  return records[0].cells[0].second;
}

Report two_tables() {
  Report report;
  report.schema = "swa.test/1";
  report.argv = {"test", "records"};
  report.summary = {{"records", Numbers{1, 2}}, {"rows", std::int64_t{3}}};
  Table first, second;
  first.name = "one";
  append(first, Record()
                    .add({"z", "z"}, std::int64_t{7})
                    .add({"a", "a"}, Value())
                    .hide("on", true)
                    .hide("share", 0.1)
                    .hide("word", string("\"ü\"\n"))
                    .hide("list", Numbers{1, -2})
                    .hide("words", Words{"x", ""}));
  append(second, Record().hide("large", kTwo53 + 1).hide("exact", -kTwo53).hide("whole", 2.0));
  append(second, Record()
                     .hide("large", -kTwo53 - 1)
                     .hide("exact", std::int64_t{0})
                     .hide("whole", std::numeric_limits<double>::infinity()));
  report.blocks = {Lines{{"words"}}, first, second};
  return report;
}

}  // namespace

TEST_CASE("records come back from json and jsonl as they were written") {
  const Scratch scratch;
  for (const Format format : {Format::json, Format::jsonl}) {
    const string path = scratch.folder() + "/report";
    {
      std::ofstream out(path);
      write(two_tables(), format, out);
    }
    const auto records = read_records(path);
    REQUIRE(records.size() == 3);
    const std::vector<std::pair<string, Value>> first{{"record", string("one")},
                                                      {"z", std::int64_t{7}},
                                                      {"a", Value()},
                                                      {"on", true},
                                                      {"share", 0.1},
                                                      {"word", string("\"ü\"\n")},
                                                      {"list", Numbers{1, -2}},
                                                      {"words", Words{"x", ""}}};
    CHECK(records[0].cells == first);
    CHECK(records[1].cells ==
          std::vector<std::pair<string, Value>>{{"large", string("9007199254740993")},
                                                {"exact", -kTwo53},
                                                {"whole", std::int64_t{2}}});
    CHECK(*records[2].find("large") == Value(string("-9007199254740993")));
    CHECK(*records[2].find("whole") == Value());
    CHECK(records[2].find("schema") == nullptr);
    CHECK(records[2].file == path);
    CHECK(records[2].origin() == path + ", record 3");
  }
}

TEST_CASE("a jsonl of one line is a record, and a report on one line is a report") {
  CHECK(read("{\"schema\": \"swa.test/1\", \"n\": 1}\n")[0].cells.size() == 1);
  CHECK(read("{\"schema\": \"swa.test/1\", \"records\": [{\"n\": 1}, {}]}").size() == 2);
  CHECK(read("\xEF\xBB\xBF{\"records\": [{\"n\": 1}]}\r\n").size() == 1);
  CHECK(read("{\"n\": 1}\r\n\r\n{\"n\": 2}\r\n").size() == 2);
  // The report's own records, wherever they stand, and no others.
  CHECK(read(R"({"a": {"records": [1]}, "records": [{"records": [{}]}], "z": [{}, {}]})").size() ==
        1);
}

TEST_CASE("a value is read as what it can be held in") {
  CHECK(cell("null") == Value());
  CHECK(cell("false") == Value(false));
  CHECK(cell("-5") == Value(std::int64_t{-5}));
  CHECK(cell("9223372036854775807") == Value(std::numeric_limits<std::int64_t>::max()));
  CHECK(cell("-9223372036854775808") == Value(std::numeric_limits<std::int64_t>::min()));
  CHECK(cell("18446744073709551615") == Value(string("18446744073709551615")));
  CHECK(cell("1e3") == Value(1000.0));
  CHECK(cell("99999999999999999999") == Value(1e20));
  CHECK(cell("[]") == Value(Numbers{}));
  CHECK(cell("[\"a\"]") == Value(Words{"a"}));
  CHECK(cell("[1.5, 2]") == Value(string("[1.5,2]")));
  CHECK(cell("[1, \"a\"]") == Value(string("[1,\"a\"]")));
  CHECK(cell("{\"b\": {\"a\": 1}}") == Value(string("{\"b\":{\"a\":1}}")));
  const auto records = read(R"({"records": [{"n": 3, "x": 0.5, "w": "3", "l": [3]}]})");
  CHECK(records[0].find_number("n") == 3.0);
  CHECK(records[0].find_number("x") == 0.5);
  CHECK_FALSE(records[0].find_number("w"));
  CHECK_FALSE(records[0].find_number("l"));
  CHECK_FALSE(records[0].find_number("none"));
}

TEST_CASE("a file without records is refused with its name and the reason") {
  struct Row {
    string text, complaint;
  };
  const std::vector<Row> rows{
      {"", "a.json is empty"},
      {" \n\t\r\n", "a.json is empty"},
      {"kernel,n_q\nx,1\n", "a.json is not JSON, at byte 1 of 14"},
      {"{\"records\": [}", "a.json is not JSON, at byte 14 of 14"},
      {"{\"records\": [{\"n\": 1},\n", "a.json ends too early: it was cut off"},
      {"{\"records\": [{\"n\": 1}]", "a.json ends too early: it was cut off"},
      {"{\"records\": [{\"n\": \"abc", "a.json ends too early: it was cut off"},
      {"{\n", "a.json ends too early: it was cut off"},
      {"{\"records\": [{\"n\": 1}]} x", "a.json is not JSON, at byte 25 of 25"},
      {"{\"n\": 1}\n{\"n\": 2}\n{\"n\"", "a.json, line 3, ends too early: it was cut off"},
      {"{\"n\": 1}\n\n{\"n\": }\n", "a.json, line 3, is not JSON, at byte 7 of 7"},
      {"{\"n\": 1}\n[]\n", "a.json, line 2, is not a record, which is an object"},
      {"7\n{\"n\": 1}\n", "a.json, line 1, is not a record, which is an object"},
      {"null", "a.json has no list of records"},
      {"[{\"n\": 1}]", "a.json has no list of records"},
      {"{\"n\": 1}", "a.json has no list of records"},
      {"{\n\"schema\": \"swa.test/1\"\n}", "a.json has no list of records"},
      {"{\"schema\": \"swa.test/1\", \"records\": 7}", "a.json has no list of records"},
      {"{\"records\": {\"a\": {}, \"b\": 1}}", "a.json has no list of records"},
      {"{\"a\": {\"records\": [{}]}}", "a.json has no list of records"},
      {"{\"records\": []}", "a.json holds no records"},
      {"{\"records\": [{}, 7]}", "a.json has a record that is no object: number 2"},
      {"{\"records\": [[{}]]}", "a.json has a record that is no object: number 1"},
      {"{\"records\": [null]}", "a.json has a record that is no object: number 1"},
      {"{\"records\": [{\"n\": 1, \"n\": 1}]}", "a.json has the key 'n' twice in one object"},
      {"{\"records\": [{}], \"records\": [{}]}",
       "a.json has the key 'records' twice in one object"},
      {"{\"n\": 1}\n{\"a\\u001b\": 1, \"a\\u001b\": 2}",
       "a.json, line 2, has the key 'a?' twice in one object"},
      {"{\"records\": [{\"n\": 1e999}]}", "a.json holds a number that no double can hold"},
      {"{\"records\": [{\"n\": NaN}]}", "a.json is not JSON, at byte 20 of 25"},
      {"{\"records\": [{\"n\": \"\xff\"}]}", "a.json is not JSON, at byte 21 of 25"},
      {string("{\"records\": [{}]}\0{", 19), "a.json is not JSON: it holds a zero byte"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    // Where in a text the parser stops is its own affair.
    const string got = complaint(row.text);
    const std::size_t at = row.complaint.find(", at byte ");
    if (at == string::npos) {
      CHECK(got == row.complaint);
    } else {
      CHECK(got.starts_with(row.complaint.substr(0, at) + ", at byte "));
    }
  }
}

TEST_CASE("records nested without end or with keys without end are refused") {
  const auto nested = [](std::size_t depth) {
    return "{\"records\": [{\"v\": " + string(depth, '[') + string(depth, ']') + "}]}";
  };
  CHECK(complaint(nested(40)).empty());
  const string too_deep = "a.json nests more than 64 values";
  CHECK(complaint(nested(100)) == too_deep);
  CHECK(complaint(nested(1'000'000)) == too_deep);
  CHECK(complaint(string(1'000'000, '[')) == too_deep);
  CHECK(complaint("{\"n\": 1}\n" + string(1'000'000, '[')) ==
        "a.json, line 2, nests more than 64 values");
  string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  CHECK(complaint(objects) == too_deep);

  const auto wide = [](int keys) {
    string text = "{\"records\": [{\"k\": 0";
    for (int i = 1; i < keys; ++i) text += ", \"k" + std::to_string(i) + "\": 0";
    return text + "}]}";
  };
  CHECK(complaint(wide(1000)).empty());
  CHECK(complaint(wide(1001)) == "a.json has more than 1000 keys in one object");
  string list = "{\"records\": [{\"v\": [0";
  for (int i = 0; i < 1'000'000; ++i) list += ",0";
  CHECK(complaint(list + "]}]}") == "a.json has more than 1000000 values in one record");
  const string long_key(1'000'000, 'k');
  CHECK(complaint("{\"records\": [{\"" + long_key + "\": 0, \"" + long_key + "\": 0}]}").size() <
        120);
  const auto many = [](int records) {
    string text = "{\"records\": [{}";
    for (int i = 1; i < records; ++i) text += ",{}";
    return text + "]}";
  };
  CHECK(complaint(many(1'000'000)).empty());
  CHECK(complaint(many(1'000'001)) == "a.json has more than 1000000 records");
}

TEST_CASE("what is no file of records is not read") {
  const Scratch scratch;
  CHECK(complaint_of(scratch, scratch.folder() + "/none.json") == "none.json cannot be found");
  CHECK(complaint_of(scratch, scratch.folder() + "/") == " is not a regular file");
  CHECK(complaint_of(scratch, "/dev/zero") == "/dev/zero is not a regular file");
  const string path = scratch.write("large.json", "{");
  std::filesystem::resize_file(path, (std::uintmax_t{256} << 20) + 1);  // it takes no room on disk
  CHECK(complaint_of(scratch, path) == "large.json has more than 256 MiB");
}

TEST_CASE("each cut of a report is refused, and each changed byte does no harm") {
  std::ostringstream out;
  write(two_tables(), Format::json, out);
  string whole = out.str();
  whole.resize(whole.find_last_of('}') + 1);
  const Scratch scratch;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CAPTURE(i);
    CHECK_FALSE(complaint_of(scratch, scratch.write("a.json", whole.substr(0, i))).empty());
    string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ (1 << (i % 8)));
    CHECK_NOTHROW(complaint_of(scratch, scratch.write("a.json", changed)));
  }
}

TEST_CASE("the records of a table are what its report would be read back as") {
  Table table;
  table.name = "one";
  append(table, Record().add({"n", "n"}, std::int64_t{1}).hide("w", string("a")));
  append(table, Record().add({"n", "n"}, std::int64_t{2}).hide("w", Value()));
  const auto records = records_of(table);
  REQUIRE(records.size() == 2);
  CHECK(records[1].number == 2);
  CHECK(records[1].origin() == "record 2");
  CHECK(records[1].cells == std::vector<std::pair<string, Value>>{
                                {"record", string("one")}, {"n", std::int64_t{2}}, {"w", Value()}});
}
