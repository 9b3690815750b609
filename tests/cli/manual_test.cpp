// The manual pages: troff that groff takes without a warning, with every option in it.
#include <doctest/doctest.h>

#include <regex>
#include <string>
#include <vector>

#include "process.hpp"
#include "scratch.hpp"

using namespace swa::test;
using std::string;

namespace {

// "" for swa(1), then the commands.
std::vector<string> pages() {
  std::vector<string> all = lines(output("--words commands"));
  all.insert(all.begin(), "");
  return all;
}

// The options that a help text lists, read from the text alone.
std::vector<string> options_of_help(const string& help) {
  static const std::regex kRow("^  (-[^ =]+)[ =].*");
  static const std::regex kName("[^,]+");
  std::vector<string> names;
  for (const string& line : lines(help)) {
    std::smatch row;
    if (!std::regex_match(line, row, kRow)) continue;
    const string list = row[1];
    for (std::sregex_iterator name(list.begin(), list.end(), kName), end; name != end; ++name) {
      names.push_back(name->str());
    }
  }
  return names;
}

// As troff spells it.
string spelled(const string& text) {
  return std::regex_replace(text, std::regex("-"), "\\-");
}

}  // namespace

TEST_CASE("every page has its name and sections and every option of the help") {
  for (const string& page : pages()) {
    CAPTURE(page);
    const string text = output("--manual " + page);
    CHECK(text.starts_with(".TH SWA"));
    CHECK(contains(text, ".SH NAME\nswa" + (page.empty() ? "" : spelled("-" + page)) + " \\- "));
    for (const string section : {"SYNOPSIS", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"}) {
      CHECK(contains(text, "\n.SH " + section + "\n"));
    }
    const std::vector<string> options = options_of_help(output("help " + page));
    CHECK(options.size() >= 4);
    for (const string& option : options) {
      CAPTURE(option);
      CHECK(contains(text, "\\fB" + spelled(option) + "\\fR"));
    }
    for (const string status : {"0", "1", "2", "3", "4", "130"}) {
      CHECK(contains(text, "\n.TP\n.B " + status + "\n"));
    }
    if (!page.empty()) CHECK(contains(text, ".SH EXAMPLES\n.nf\nswa " + spelled(page)));
  }
  CHECK(output("--manual") == output("--manual swa"));
}

TEST_CASE("groff takes every page without a warning") {
  const string groff = tool_or_skip("groff");
  if (groff.empty()) return;
  const Scratch scratch;
  for (const string& page : pages()) {
    CAPTURE(page);
    const string file = scratch.write("swa.1", output("--manual " + page));
    const Finished checked = run(groff, {"-man", "-ww", "-z", file});
    CHECK(checked.status == 0);
    CHECK(checked.err.empty());
  }
}

TEST_CASE("man shows every page without a warning") {
  const string man = tool_or_skip("man");
  if (man.empty()) return;
  const Scratch scratch;
  for (const string& page : pages()) {
    CAPTURE(page);
    const string file = scratch.write("swa.1", output("--manual " + page));
    const Finished shown = run(man, {"--warnings", "-l", file},
                               {{{"MANPAGER", "cat"}, {"MANWIDTH", "80"}, {"LC_ALL", "C.UTF-8"}}});
    CHECK(shown.status == 0);
    CHECK(shown.err.empty());
    // A slim system has a man that shows nothing but a note.
    if (contains(shown.out, "EXIT STATUS")) CHECK(contains(shown.out, "--format"));
  }
}
