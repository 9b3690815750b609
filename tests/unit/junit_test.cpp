// JUnit's XML: which record is which kind of test case, and that nothing breaks the markup.
#include <doctest/doctest.h>

#include <sstream>
#include <stdexcept>
#include <string>

#include "report/report.hpp"
#include "xml.hpp"

using namespace swa::report;
using std::string;
using swa::test::Element;
using swa::test::everywhere;
using swa::test::XmlReader;

namespace {

Report judged(const std::vector<std::pair<string, string>>& verdicts_and_reasons) {
  Report report;
  report.schema = "swa.sample/1";
  report.verdicts = {"verdict", {"part", "name"}, "why", {"right"}, {"later"}, {"broken"}};
  Table table;
  std::int64_t i = 0;
  for (const auto& [verdict, why] : verdicts_and_reasons) {
    Record record;
    record.add({"verdict", "verdict"}, verdict)
        .add({"part", "part"}, string("p"))
        .add({"name", "name"}, i++)
        .hide("why", why.empty() ? Value() : Value(why))
        .hide("size", 0.1)
        .hide("list", Numbers{1, 2});
    append(table, record);
  }
  report.blocks = {Lines{{"a <sentence> for people"}}, table};
  return report;
}

string written(const Report& report) {
  std::ostringstream out;
  write(report, Format::junit, out);
  return out.str();
}

Element read(const Report& report) {
  return XmlReader::read(written(report));
}

}  // namespace

TEST_CASE("junit of a small report") {
  CHECK(written(judged({{"right", ""}, {"wrong", "too large"}, {"later", "no GPU"}})) ==
        R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="swa.sample" tests="3" failures="1" errors="0" skipped="1">
  <testsuite name="swa.sample" tests="3" failures="1" errors="0" skipped="1">
    <testcase classname="swa.sample" name="p: 0"/>
    <testcase classname="swa.sample" name="p: 1">
      <failure message="wrong: too large" type="wrong">
verdict: wrong
part: p
name: 1
why: too large
size: 0.1
list: 1 2
</failure>
    </testcase>
    <testcase classname="swa.sample" name="p: 2">
      <skipped message="later: no GPU"/>
    </testcase>
  </testsuite>
</testsuites>
)");
}

TEST_CASE("junit: each word has its kind, and an unknown one is a failure") {
  const Element root =
      read(judged({{"right", ""}, {"later", ""}, {"broken", ""}, {"", ""}, {"?", ""}}));
  CHECK(root.attributes.at("tests") == "5");
  CHECK(root.attributes.at("failures") == "2");
  CHECK(root.attributes.at("errors") == "1");
  CHECK(root.attributes.at("skipped") == "1");
  CHECK(everywhere(root, "failure").size() == 2);
  REQUIRE(everywhere(root, "error").size() == 1);
  CHECK(everywhere(root, "error")[0]->attributes.at("message") == "broken");
}

TEST_CASE("junit: a suite for each table with verdicts, and the sum of all") {
  Report report = judged({{"right", ""}, {"wrong", ""}});
  Table second = std::get<Table>(report.blocks[1]);
  second.name = "second";
  report.blocks.push_back(second);
  Table other;
  append(other, Record().hide("size", std::int64_t{1}));
  report.blocks.push_back(other);  // judges nothing
  const Element root = read(report);
  const auto suites = everywhere(root, "testsuite");
  REQUIRE(suites.size() == 2);
  CHECK(suites[1]->attributes.at("name") == "swa.sample.second");
  CHECK(suites[1]->children.size() == 2);
  CHECK(root.attributes.at("tests") == "4");
  CHECK(root.attributes.at("failures") == "2");
}

TEST_CASE("junit: no text breaks the markup, and no character is one that XML cannot hold") {
  const string nasty = "a<b>&\"c\"\n\td\r]]>";
  Element root = read(judged({{nasty, nasty}}));
  REQUIRE(everywhere(root, "failure").size() == 1);
  CHECK(everywhere(root, "failure")[0]->attributes.at("message") == nasty + ": " + nasty);
  CHECK(everywhere(root, "failure")[0]->attributes.at("type") == nasty);
  CHECK(everywhere(root, "failure")[0]->text.find("why: " + nasty + "\n") != string::npos);

  const string replacement = "\xEF\xBF\xBD";
  for (const string& bad : {string("\x01"), string("\x1b"), string(1, '\0'), string("\xff"),
                            string("\xc3"), string("\xed\xa0\x80"), string("\xef\xbf\xbe")}) {
    root = read(judged({{"wrong", "x" + bad + "y"}}));
    const string message = everywhere(root, "failure")[0]->attributes.at("message");
    CHECK(message.starts_with("wrong: x" + replacement));
    CHECK(message.ends_with(replacement + "y"));
  }
  root = read(judged({{"wrong", "\xC3\xA9 \xF0\x9F\x98\x80"}}));
  CHECK(everywhere(root, "failure")[0]->attributes.at("message") ==
        "wrong: \xC3\xA9 \xF0\x9F\x98\x80");
}

TEST_CASE("junit of a report without verdicts is refused") {
  Report report = judged({{"right", ""}});
  report.verdicts = {};
  CHECK_THROWS_AS(written(report), std::logic_error);
}

TEST_CASE("junit of a run that was interrupted holds an error") {
  Report report = judged({{"right", ""}});
  report.interrupted = "1 of 9 cases were run";
  CHECK(written(report) == R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="swa.sample" tests="2" failures="0" errors="1" skipped="0">
  <testsuite name="swa.sample" tests="1" failures="0" errors="0" skipped="0">
    <testcase classname="swa.sample" name="p: 0"/>
  </testsuite>
  <testsuite name="swa.sample.interrupted" tests="1" failures="0" errors="1" skipped="0">
    <testcase classname="swa.sample" name="interrupted">
      <error message="interrupted: 1 of 9 cases were run" type="interrupted"/>
    </testcase>
  </testsuite>
</testsuites>
)");
  report.blocks.clear();  // not even one case came to its end
  CHECK(everywhere(read(report), "error").size() == 1);
}
