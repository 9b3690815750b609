// The chapter's figures: all come out, and each one that is changed is the one that fails.
#include <doctest/doctest.h>

#include <cstdio>
#include <string>

#include "chapter/compare.hpp"
#include "chapter/gpu_figures.hpp"
#include "error.hpp"
#include "mask/window.hpp"
#include "scratch.hpp"

using namespace swa;
using namespace swa::chapter;

namespace {

const std::vector<Figure>& figures() {
  static const std::vector<Figure> kFigures = all_figures({});
  return kFigures;
}

Printed printed() {
  return read_printed(SWA_SOURCE_DIR "/data/chapter/figures.tsv");
}

// One unit more in the last printed digit; a mask or a word changes its last letter.
std::string next_digit(std::string text) {
  // The digits of a mantissa end before an exponent, a unit or a bracket.
  const std::size_t exponent = text.find("e-") != std::string::npos   ? text.find("e-")
                               : text.find("e+") != std::string::npos ? text.find("e+")
                                                                      : text.size();
  const std::size_t last = text.find_last_of("0123456789", exponent - 1);
  if (last == std::string::npos) {
    text.back() = text.back() == 'x' ? '.' : 'x';
    return text;
  }
  for (std::size_t i = last;; --i) {
    if (text[i] == '.') continue;
    if (text[i] != '9') {
      ++text[i];
      return text;
    }
    text[i] = '0';
    if (i == 0 || (text[i - 1] != '.' && (text[i - 1] < '0' || text[i - 1] > '9'))) {
      return text.insert(i, "1");
    }
  }
}

std::vector<const Verdict*> not_right(const std::vector<Verdict>& verdicts) {
  std::vector<const Verdict*> wrong;
  for (const Verdict& v : verdicts) {
    if (v.wrong) wrong.push_back(&v);
  }
  return wrong;
}

}  // namespace

TEST_CASE("one unit of the last printed digit") {
  CHECK(next_digit("0.50") == "0.51");
  CHECK(next_digit("1.99") == "2.00");
  CHECK(next_digit("99") == "100");
  CHECK(next_digit("9.9x") == "10.0x");
  CHECK(next_digit("48.44%") == "48.45%");
  CHECK(next_digit("1.749e-01") == "1.750e-01");
  CHECK(next_digit("[0, 9]") == "[0, 10]");
  CHECK(next_digit("x . x") == "x . .");
  CHECK(next_digit("False") == "Falsx");
}

TEST_CASE(
    "every figure of the chapter comes out but for another kernel's and those that wait for a "
    "GPU") {
  const std::vector<Verdict> verdicts = compare(figures(), printed());
  for (const Verdict* v : not_right(verdicts)) {
    FAIL_CHECK(v->figure.table, " / ", v->figure.row, ": chapter ", v->chapter, ", ours ",
               v->figure.ours);
  }
  Index exact = 0, bounded = 0, other = 0, waiting = 0;
  for (const Verdict& v : verdicts) {
    exact += v.figure.kind == Class::exact;
    bounded += v.figure.kind == Class::bounded;
    other += v.figure.kind == Class::other_kernel;
    waiting += v.figure.kind == Class::waiting;
    CHECK(v.chapter != "");
  }
  CHECK(exact == 183);
  CHECK(bounded == 16);
  CHECK(other == 6);
  CHECK(waiting == 10);
}

TEST_CASE("an exact figure changed by one unit is the one row that fails") {
  const Printed original = printed();
  for (const Figure& figure : figures()) {
    if (figure.kind != Class::exact) continue;
    CAPTURE(figure.table);
    CAPTURE(figure.row);
    Printed changed = original;
    std::string& text = changed.at({figure.table, figure.row});
    text = next_digit(text);
    REQUIRE(text != original.at({figure.table, figure.row}));
    const std::vector<Verdict> verdicts = compare(figures(), changed);
    const auto wrong = not_right(verdicts);
    REQUIRE(wrong.size() == 1);
    CHECK(wrong.front()->figure.table == figure.table);
    CHECK(wrong.front()->figure.row == figure.row);
  }
}

TEST_CASE("a bounded figure changed to above its bound is the one row that fails") {
  const Printed original = printed();
  for (const Figure& figure : figures()) {
    if (figure.kind != Class::bounded) continue;
    CAPTURE(figure.row);
    char above[32];
    std::snprintf(above, sizeof above, "%.2e", 1.02 * figure.bound);
    for (const std::string& text :
         {std::string(above), std::string("nan"), std::string("-1.00e-15")}) {
      Printed changed = original;
      changed.at({figure.table, figure.row}) = text;
      const std::vector<Verdict> verdicts = compare(figures(), changed);
      const auto wrong = not_right(verdicts);
      REQUIRE(wrong.size() == 1);
      CHECK(wrong.front()->figure.row == figure.row);
    }
  }
}

TEST_CASE("our own figure beyond its bound fails whatever the chapter printed") {
  const std::vector<Figure> bad{{"t", "r", Class::bounded, "2.00e-10", 1e-12}};
  CHECK(compare(bad, {{{"t", "r"}, "1.00e-15"}}).front().wrong);
  const std::vector<Figure> nan{{"t", "r", Class::bounded, "nan", 1e-12}};
  CHECK(compare(nan, {{{"t", "r"}, "1.00e-15"}}).front().wrong);
}

TEST_CASE("a row that is missing on either side fails") {
  Printed fewer = printed();
  fewer.erase({"tiled", "W=100 FULL"});
  CHECK(not_right(compare(figures(), fewer)).size() == 1);
  Printed more = printed();
  more[{"tiled", "W=101 FULL"}] = "3";
  CHECK(not_right(compare(figures(), more)).size() == 1);
}

TEST_CASE("a broken file says where") {
  const test::Scratch scratch;
  const auto complaint = [&](const std::string& text) -> std::string {
    try {
      read_printed(scratch.write("figures_test.tsv", text));
    } catch (const UsageError& error) {
      return scratch.without_folder(error.what());
    }
    return "";
  };
  CHECK(complaint("# note\n\na\tb\t1\n") == "");
  CHECK(complaint("a\tb\n") == "figures_test.tsv:1: not a table, a row and a figure between tabs");
  CHECK(complaint("a\tb\t1\na\tb\t2\n") == "figures_test.tsv:2: the row 'b' of 'a' stands twice");
}
