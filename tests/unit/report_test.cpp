#include "report/report.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <locale>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <stdexcept>

namespace swa::report {
namespace {

using Json = nlohmann::ordered_json;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kTwo53 = 9007199254740992;

std::string written(const Report& report, Format format) {
  std::ostringstream out;
  write(report, format, out);
  return out.str();
}

Column column(std::string key, std::string title) {
  return {std::move(key), std::move(title), "", Show::everywhere, ""};
}

Table table(std::string name, std::string title, std::vector<Column> columns,
            std::vector<std::vector<Value>> rows) {
  return {std::move(name), std::move(title), std::move(columns), std::move(rows)};
}

Report report_of(std::vector<std::variant<Lines, Table>> blocks) {
  Report report;
  report.schema = "swa.test/1";
  report.version = "0.1.0";
  report.blocks = std::move(blocks);
  return report;
}

// A report of one column and one cell.
Report cell_report(Value value, std::string format = "", std::string suffix = "") {
  const Column only{"v", "v", std::move(format), Show::everywhere, std::move(suffix)};
  return report_of({table("", "", {only}, {{std::move(value)}})});
}

// The cell as people see it.
std::string seen(Value value, std::string format = "", std::string suffix = "") {
  const std::string text = written(cell_report(std::move(value), format, suffix), Format::text);
  const std::string line = text.substr(text.find('\n') + 1);
  return line.substr(line.find_first_not_of(' '), line.size() - line.find_first_not_of(' ') - 1);
}

// The cell as JSON spells it.
std::string spelled(Value value) {
  const std::string line = written(cell_report(std::move(value)), Format::jsonl);
  const std::string opening = R"({"schema": "swa.test/1", "v": )";
  REQUIRE(line.starts_with(opening));
  REQUIRE(line.ends_with("}\n"));
  return line.substr(opening.size(), line.size() - opening.size() - 2);
}

// The CSV line of the cell.
std::string csv(Value value) {
  const std::string text = written(cell_report(std::move(value)), Format::csv);
  REQUIRE(text.starts_with("v\n"));
  REQUIRE(text.ends_with("\n"));
  return text.substr(2, text.size() - 3);
}

// A small report with a cell of every kind.
Report sample() {
  Report report = report_of({
      Lines{{"Two masks, one tile:", "  ##..", "  .##."}},
      table("mask", "Masks",
            {
                column("mask", "mask"),
                {"n_q", "queries", "", Show::everywhere, ""},
                {"saved", "saved", ".1f", Show::everywhere, "%"},
                {"seed", "seed", "", Show::machine, ""},
                column("exact", "exact"),
                column("tiles", "tiles"),
                column("notes", "notes"),
            },
            {
                {std::string("causal"), std::int64_t{128}, 49.609375, std::int64_t{7}, true,
                 Numbers{1, 2, 3}, Words{"a", "b"}},
                {std::string("a|b"), std::int64_t{4096}, std::monostate{}, std::int64_t{8}, false,
                 Numbers{}, Words{}},
            }),
      table("", "", {column("time_s", "time"), column("host", "host")},
            {{0.5, std::string("naïve")}, {kNan, std::monostate{}}}),
  });
  report.argv = {"map", "--mask=causal"};
  report.summary = {{"masks", std::int64_t{2}}, {"ok", true}};
  return report;
}

}  // namespace

TEST_CASE("format names are read back and nothing else") {
  CHECK(parse_format("text") == Format::text);
  CHECK(parse_format("json") == Format::json);
  CHECK(parse_format("jsonl") == Format::jsonl);
  CHECK(parse_format("csv") == Format::csv);
  CHECK(parse_format("md") == Format::md);
  CHECK(parse_format("junit") == Format::junit);
  for (const char* word : {"", "JSON", "text ", "yaml", "markdown"}) {
    CHECK_FALSE(parse_format(word).has_value());
  }
  CHECK(format_names() == "text, json, jsonl, csv or md");
  CHECK(format_names(true) == "text, json, jsonl, csv, md or junit");
  CHECK(format_words().size() + 1 == format_words(true).size());
}

TEST_CASE("text of a small report") {
  CHECK(written(sample(), Format::text) ==
        "Two masks, one tile:\n"
        "  ##..\n"
        "  .##.\n"
        "\n"
        "Masks\n"
        "mask    queries  saved  exact  tiles      notes\n"
        "causal      128  49.6%  yes    [1, 2, 3]  a, b\n"
        "a|b        4096      -  no     []\n"
        "\n"
        "time  host\n"
        " 0.5  naïve\n"
        " nan  -\n");
}

TEST_CASE("md of a small report") {
  CHECK(written(sample(), Format::md) ==
        "```text\n"
        "Two masks, one tile:\n"
        "  ##..\n"
        "  .##.\n"
        "```\n"
        "\n"
        "### Masks\n"
        "\n"
        "| mask | queries | saved | exact | tiles | notes |\n"
        "| --- | ---: | ---: | --- | --- | --- |\n"
        "| causal | 128 | 49.6% | yes | [1, 2, 3] | a, b |\n"
        "| a\\|b | 4096 | - | no | [] |  |\n"
        "\n"
        "| time | host |\n"
        "| ---: | --- |\n"
        "| 0.5 | naïve |\n"
        "| nan | - |\n");
}

TEST_CASE("json of a small report") {
  CHECK(written(sample(), Format::json) == R"({
  "schema": "swa.test/1",
  "tool": {"name": "swa", "version": "0.1.0"},
  "device": null,
  "argv": ["map", "--mask=causal"],
  "records": [
    {"record": "mask", "mask": "causal", "n_q": 128, "saved": 49.609375, "seed": 7, "exact": true, "tiles": [1, 2, 3], "notes": ["a", "b"]},
    {"record": "mask", "mask": "a|b", "n_q": 4096, "saved": null, "seed": 8, "exact": false, "tiles": [], "notes": []},
    {"time_s": 0.5, "host": "naïve"},
    {"time_s": null, "host": null}
  ],
  "summary": {
    "masks": 2,
    "ok": true
  }
}
)");
}

TEST_CASE("jsonl of a small report") {
  CHECK(
      written(sample(), Format::jsonl) ==
      R"({"schema": "swa.test/1", "record": "mask", "mask": "causal", "n_q": 128, "saved": 49.609375, "seed": 7, "exact": true, "tiles": [1, 2, 3], "notes": ["a", "b"]}
{"schema": "swa.test/1", "record": "mask", "mask": "a|b", "n_q": 4096, "saved": null, "seed": 8, "exact": false, "tiles": [], "notes": []}
{"schema": "swa.test/1", "time_s": 0.5, "host": "naïve"}
{"schema": "swa.test/1", "time_s": null, "host": null}
)");
}

TEST_CASE("csv of a small report") {
  CHECK(written(sample(), Format::csv) ==
        "record,mask,n_q,saved,seed,exact,tiles,notes\n"
        "mask,causal,128,49.609375,7,true,1 2 3,a b\n"
        "mask,a|b,4096,,8,false,\"\",\"\"\n"
        "\n"
        "time_s,host\n"
        "0.5,naïve\n"
        "nan,\n");
}

TEST_CASE("a report without blocks") {
  const Report report = report_of({});
  CHECK(written(report, Format::text).empty());
  CHECK(written(report, Format::md).empty());
  CHECK(written(report, Format::csv).empty());
  CHECK(written(report, Format::jsonl).empty());
  CHECK(written(report, Format::json) == R"({
  "schema": "swa.test/1",
  "tool": {"name": "swa", "version": "0.1.0"},
  "device": null,
  "argv": [],
  "records": [],
  "summary": {}
}
)");
}

TEST_CASE("a table without rows keeps its heading") {
  const Report report =
      report_of({table("t", "Title", {column("a", "first"), column("b", "second")}, {})});
  CHECK(written(report, Format::text) == "Title\nfirst  second\n");
  CHECK(written(report, Format::md) == "### Title\n\n| first | second |\n| ---: | ---: |\n");
  CHECK(written(report, Format::csv) == "record,a,b\n");
  CHECK(written(report, Format::jsonl).empty());
  CHECK(written(report, Format::json).find("\"records\": [],") != std::string::npos);
}

TEST_CASE("the device is named in json if there is one") {
  Report report = report_of({});
  report.device = "NVIDIA \"H200\"";
  CHECK(Json::parse(written(report, Format::json))["device"] == "NVIDIA \"H200\"");
}

TEST_CASE("machine columns are hidden from people and tables and lines with nothing to show") {
  const Column hidden{"h", "hidden", "", Show::machine, ""};
  const Report report = report_of({
      Lines{},
      table("", "first", {hidden}, {{std::int64_t{1}}}),
      table("", "second", {hidden, column("a", "a")}, {{std::int64_t{2}, std::int64_t{3}}}),
      Lines{},
  });
  CHECK(written(report, Format::text) == "second\na\n3\n");
  CHECK(written(report, Format::md) == "### second\n\n| a |\n| ---: |\n| 3 |\n");
  CHECK(written(report, Format::csv) == "h\n1\n\nh,a\n2,3\n");
}

TEST_CASE("csv: tables of the same columns share a header") {
  const std::vector<Column> a = {column("a", "x")};
  const std::vector<Column> b = {column("b", "x")};
  const Report report = report_of({
      table("", "", a, {{std::int64_t{1}}}),
      Lines{{"not for csv"}},
      table("", "", a, {{std::int64_t{2}}}),
      table("", "", b, {{std::int64_t{3}}}),
      table("", "", a, {{std::int64_t{4}}}),
  });
  CHECK(written(report, Format::csv) == "a\n1\n2\n\nb\n3\n\na\n4\n");
}

TEST_CASE("csv quotes what would break a line apart") {
  CHECK(csv(std::string("plain text")) == "plain text");
  CHECK(csv(std::string("a,b")) == "\"a,b\"");
  CHECK(csv(std::string("say \"no\"")) == "\"say \"\"no\"\"\"");
  CHECK(csv(std::string("two\nlines")) == "\"two\nlines\"");
  CHECK(csv(std::string("two\r\nlines")) == "\"two\r\nlines\"");
  CHECK(csv(Words{"a,b", "c"}) == "\"a,b c\"");
  CHECK(csv(std::string("é,日本")) == "\"é,日本\"");

  const Report keys = report_of({table("", "", {column("a,b", ""), column("c\"", "")}, {})});
  CHECK(written(keys, Format::csv) == "\"a,b\",\"c\"\"\"\n");
}

TEST_CASE("csv: null is an empty cell but no row is an empty line") {
  const Report report =
      report_of({table("", "", {column("a", ""), column("b", "")},
                       {{std::monostate{}, std::monostate{}}, {std::string(), std::monostate{}}})});
  CHECK(written(report, Format::csv) == "a,b\n,\n\"\",\n");
  CHECK(csv(std::monostate{}) == "\"\"");
}

TEST_CASE("csv: numbers in full precision whatever the format for people") {
  const Report report = cell_report(1.0 / 3.0, ".2f", "x");
  CHECK(written(report, Format::csv) == "v\n0.3333333333333333\n");
  CHECK(csv(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  CHECK(csv(-kNan) == "nan");
  CHECK(csv(kInfinity) == "inf");
  CHECK(csv(-kInfinity) == "-inf");
  CHECK(csv(Numbers{-1, kTwo53 + 1}) == "-1 9007199254740993");
}

TEST_CASE("json escapes what it must and passes the rest through") {
  CHECK(spelled(std::string("\"\\/")) == R"("\"\\/")");
  CHECK(spelled(std::string("\b\f\n\r\t")) == R"("\b\f\n\r\t")");
  CHECK(spelled(std::string("\0\x01\x1f\x7f", 4)) == "\"\\u0000\\u0001\\u001f\x7f\"");
  CHECK(spelled(std::string("é ≤ 日本 😀")) == "\"é ≤ 日本 😀\"");
  CHECK(spelled(Words{"\"", "ü"}) == R"(["\"", "ü"])");
}

TEST_CASE("json takes the place of malformed UTF-8 with U+FFFD") {
  CHECK(spelled(std::string("a\xFFz")) == "\"a\uFFFDz\"");
  CHECK(spelled(std::string("cut \xE6\x97")) == "\"cut \uFFFD\uFFFD\"");
  CHECK(spelled(std::string("\xC0\x80")) == "\"\uFFFD\uFFFD\"");            // overlong
  CHECK(spelled(std::string("\xED\xA0\x80")) == "\"\uFFFD\uFFFD\uFFFD\"");  // surrogate
  CHECK(spelled(std::string("\xF4\x90\x80\x80")).size() == 4 * 3 + 2);      // beyond U+10FFFF
  CHECK(spelled(std::string("\uFFFD")) == "\"\uFFFD\"");
}

TEST_CASE("json numbers") {
  CHECK(spelled(1.0) == "1");
  CHECK(spelled(0.1) == "0.1");
  CHECK(spelled(-0.0) == "-0");
  CHECK(spelled(1e300) == "1e+300");
  CHECK(spelled(5e-324) == "5e-324");
  CHECK(spelled(kNan) == "null");
  CHECK(spelled(-kNan) == "null");
  CHECK(spelled(kInfinity) == "null");
  CHECK(spelled(-kInfinity) == "null");
  CHECK(spelled(std::monostate{}) == "null");
}

TEST_CASE("json: whole numbers beyond 2^53 are strings") {
  CHECK(spelled(kTwo53) == "9007199254740992");
  CHECK(spelled(-kTwo53) == "-9007199254740992");
  CHECK(spelled(kTwo53 + 1) == R"("9007199254740993")");
  CHECK(spelled(-kTwo53 - 1) == R"("-9007199254740993")");
  CHECK(spelled(std::numeric_limits<std::int64_t>::min()) == R"("-9223372036854775808")");
  CHECK(spelled(std::numeric_limits<std::int64_t>::max()) == R"("9223372036854775807")");
  CHECK(spelled(Numbers{1, kTwo53 + 1}) == R"([1, "9007199254740993"])");
}

TEST_CASE("formats and suffixes for people") {
  CHECK(seen(2.0 / 3.0) == "0.6666666666666666");
  CHECK(seen(2.0 / 3.0, ".2f") == "0.67");
  CHECK(seen(2.0 / 3.0, ".2f", "x") == "0.67x");
  CHECK(seen(12345.678, ".3g") == "1.23e+04");
  CHECK(seen(std::int64_t{3}, ".2f") == "3.00");
  CHECK(seen(std::int64_t{3}, "e") == "3.000000e+00");
  CHECK(seen(std::int64_t{255}, "#x") == "0xff");
  CHECK(seen(std::int64_t{7}, "", "%") == "7%");
  CHECK(seen(std::int64_t{7}, "+") == "+7");
  CHECK(seen(Numbers{1, 2}, ".2f", " us") == "[1, 2] us");
  // A suffix belongs to a number.
  CHECK(seen(std::monostate{}, ".2f", "x") == "-");
  CHECK(seen(kNan, ".2f", "x") == "nan");
  CHECK(seen(-kNan) == "nan");
  CHECK(seen(-kInfinity, ".2f", "x") == "-inf");
  CHECK(seen(std::string("skipped"), ".2f", "x") == "skipped");
  CHECK(seen(true, ".2f", "x") == "yes");
}

TEST_CASE("a column of numbers and anything else is a column of words") {
  const Report report =
      report_of({table("", "", {column("a", "numbers"), column("b", "mixed")},
                       {{std::int64_t{1}, std::int64_t{1}}, {2.5, std::string("none")}})});
  CHECK(written(report, Format::text) ==
        "numbers  mixed\n"
        "      1  1\n"
        "    2.5  none\n");
}

TEST_CASE("text columns line up by what a terminal shows not by bytes") {
  const Report report = report_of({table("", "", {column("w", "Wörter"), column("n", "≤")},
                                         {{std::string("日本語"), std::int64_t{1}},
                                          {std::string("e\u0301te\u0301"), std::int64_t{10}},
                                          {std::string("😀"), std::int64_t{100}},
                                          {std::string("plain word"), std::int64_t{1000}}})});
  CHECK(written(report, Format::text) ==
        "Wörter         ≤\n"
        "日本語         1\n"
        "e\u0301te\u0301           10\n"
        "😀           100\n"
        "plain word  1000\n");
}

TEST_CASE("a cell stays on its line for people") {
  const Report report = report_of({table("", "", {column("a", "two\nwords"), column("b", "b")},
                                         {{std::string("x\ny\tz\x1b"), std::string("q")}})});
  CHECK(written(report, Format::text) == "two words  b\nx y z      q\n");
  CHECK(written(report, Format::md) == "| two words | b |\n| --- | --- |\n| x y z  | q |\n");
}

TEST_CASE("md escapes markup and chooses a fence longer than any within") {
  const Report report = report_of({
      Lines{{"```", "code", "````"}},
      table("", "a|b", {column("v", "x|y")}, {{std::string("\\| *a* `b` <c> n_q")}}),
  });
  CHECK(written(report, Format::md) ==
        "`````text\n```\ncode\n````\n`````\n"
        "\n"
        "### a\\|b\n"
        "\n"
        "| x\\|y |\n"
        "| --- |\n"
        "| \\\\\\| \\*a\\* \\`b\\` \\<c> n_q |\n");
}

TEST_CASE("neither the stream's locale nor its flags reach the numbers") {
  struct Commas : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before =
      std::locale::global(std::locale(std::locale::classic(), new Commas));  // the locale owns it
  const Report report = report_of(
      {table("", "", {column("a", "a"), column("b", "b")}, {{std::int64_t{1234567}, 1234.5}})});
  std::ostringstream out;
  out.width(40);
  out << std::hex << std::showbase;
  write(report, Format::csv, out);
  const std::string text = written(report, Format::text);
  std::locale::global(before);
  CHECK(out.str() == "a,b\n1234567,1234.5\n");
  CHECK(text == "      a       b\n1234567  1234.5\n");
}

TEST_CASE("defects of the report throw before anything is written") {
  const Report ragged =
      report_of({table("t", "", {column("a", "a"), column("b", "b")}, {{std::int64_t{1}}})});
  for (const Format format : {Format::text, Format::json, Format::jsonl, Format::csv, Format::md}) {
    std::ostringstream out;
    CHECK_THROWS_AS(write(ragged, format, out), std::logic_error);
    CHECK(out.str().empty());
  }
  std::ostringstream out;
  CHECK_THROWS_AS(write(cell_report(0.5, "d"), Format::text, out), fmt::format_error);
  CHECK(out.str().empty());
}

namespace {

std::string random_text(std::mt19937_64& random) {
  const std::vector<std::string> pieces = {"a",  " ",  "\"", "\\", "\n",     "\r",     "\t", ",",
                                           "|",  "é",  "日", "😀",  "\x01",   "\x7f",   "{",  "]",
                                           ": ", "/u", "u0", "'",  "\u2028", "\uFFFD", "",   "-"};
  std::string text;
  const std::size_t count = random() % 8;
  for (std::size_t i = 0; i < count; ++i) text += pieces[random() % pieces.size()];
  return text;
}

std::int64_t random_integer(std::mt19937_64& random) {
  // Of every magnitude, so that 2^53 has neighbours on both sides.
  return static_cast<std::int64_t>(random()) >> (random() % 64);
}

double random_double(std::mt19937_64& random) {
  double x = 0;
  const std::uint64_t bits = random();
  std::memcpy(&x, &bits, sizeof x);  // any double, now and then a NaN
  return random() % 8 == 0 ? kNan : x;
}

Value random_value(std::mt19937_64& random) {
  switch (random() % 7) {
    case 0:
      return std::monostate{};
    case 1:
      return random() % 2 == 0;
    case 2:
      return random_integer(random);
    case 3:
      return random_double(random);
    case 4:
      return random_text(random);
    case 5: {
      Numbers list(random() % 4);
      for (auto& n : list) n = random_integer(random);
      return list;
    }
    default: {
      Words list(random() % 4);
      for (auto& word : list) word = random_text(random);
      return list;
    }
  }
}

void check_same(std::int64_t n, const Json& json) {
  if (n > kTwo53 || n < -kTwo53) {
    REQUIRE(json.is_string());
    CHECK(std::stoll(json.get<std::string>()) == n);
  } else {
    REQUIRE(json.is_number_integer());
    CHECK(json.get<std::int64_t>() == n);
  }
}

void check_same(const Value& value, const Json& json) {
  if (const auto* yes = std::get_if<bool>(&value)) {
    CHECK(json == *yes);
  } else if (const auto* n = std::get_if<std::int64_t>(&value)) {
    check_same(*n, json);
  } else if (const auto* x = std::get_if<double>(&value); x != nullptr && std::isfinite(*x)) {
    REQUIRE(json.is_number());
    CHECK(json.get<double>() == *x);
  } else if (const auto* word = std::get_if<std::string>(&value)) {
    CHECK(json == *word);
  } else if (const auto* numbers = std::get_if<Numbers>(&value)) {
    REQUIRE(json.size() == numbers->size());
    for (std::size_t i = 0; i < numbers->size(); ++i) check_same((*numbers)[i], json[i]);
  } else if (const auto* words = std::get_if<Words>(&value)) {
    CHECK(json == Json(*words));
  } else {
    CHECK(json.is_null());
  }
}

}  // namespace

TEST_CASE("property: json and jsonl read back as what was written") {
  std::mt19937_64 random(20240601);
  for (int round = 0; round < 300; ++round) {
    Report report = report_of({});
    report.schema = random_text(random);
    report.device = random_text(random);
    report.argv = {random_text(random), random_text(random)};
    report.summary = {{"a", random_value(random)}, {"b", random_value(random)}};
    const std::size_t blocks = random() % 4;
    for (std::size_t b = 0; b < blocks; ++b) {
      Table made = table(random_text(random), "", {}, {});
      // A number in front keeps the keys distinct.
      const std::size_t columns = 1 + random() % 4;
      for (std::size_t j = 0; j < columns; ++j) {
        made.columns.push_back(column(std::to_string(j) + random_text(random), "heading"));
      }
      made.rows.resize(random() % 4);
      for (auto& row : made.rows) {
        for (std::size_t j = 0; j < columns; ++j) row.push_back(random_value(random));
      }
      report.blocks.emplace_back(std::move(made));
    }

    const Json json = Json::parse(written(report, Format::json));
    CHECK(json["schema"] == report.schema);
    CHECK(json["tool"] == Json{{"name", "swa"}, {"version", "0.1.0"}});
    CHECK(json["device"] == (report.device.empty() ? Json(nullptr) : Json(report.device)));
    CHECK(json["argv"] == Json(report.argv));
    REQUIRE(json["summary"].size() == 2);
    for (const auto& [key, value] : report.summary) check_same(value, json["summary"][key]);

    std::istringstream jsonl(written(report, Format::jsonl));
    std::string line;
    std::size_t record = 0;
    for (const auto& block : report.blocks) {
      const Table& made = std::get<Table>(block);
      for (const auto& row : made.rows) {
        REQUIRE(record < json["records"].size());
        Json expected = {{"schema", report.schema}};
        expected.update(json["records"][record]);
        REQUIRE(std::getline(jsonl, line));
        CHECK(Json::parse(line) == expected);

        auto member = json["records"][record++].items().begin();
        if (!made.name.empty()) {
          CHECK(member.key() == "record");
          CHECK(member.value() == made.name);
          ++member;
        }
        for (std::size_t j = 0; j < row.size(); ++j, ++member) {
          CHECK(member.key() == made.columns[j].key);
          check_same(row[j], member.value());
        }
        CHECK(member == json["records"][record - 1].items().end());
      }
    }
    CHECK(record == json["records"].size());
    CHECK_FALSE(std::getline(jsonl, line));
  }
}

TEST_CASE("property: no line of a table ends in a space and all formats write") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; ++round) {
    Table made = table("t", "", {column("a", "a"), column("b", "b")}, {});
    made.rows.resize(random() % 5);
    for (auto& row : made.rows) row = {random_value(random), random_value(random)};
    const Report report = report_of({made});
    const std::string text = written(report, Format::text);
    CHECK(text.find(" \n") == std::string::npos);
    CHECK(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) ==
          made.rows.size() + 1);
    const std::string markdown = written(report, Format::md);
    CHECK(static_cast<std::size_t>(std::count(markdown.begin(), markdown.end(), '\n')) ==
          made.rows.size() + 2);
    CHECK(written(report, Format::csv).starts_with("record,a,b\n"));
  }
}

}  // namespace swa::report
