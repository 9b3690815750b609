// Every example of the README and of docs/ still prints what is shown there.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "cli/process.hpp"
#include "problem/words.hpp"

namespace fs = std::filesystem;
using std::string;
using std::vector;

namespace {

// "$ swa ARGS" of a console block, and the lines shown below it; "..." stands for any lines.
struct Example {
  string page;
  int line = 0;
  string arguments;
  vector<string> shown;
};

vector<fs::path> pages() {
  vector<fs::path> found{fs::path(SWA_SOURCE_DIR) / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SWA_SOURCE_DIR) / "docs")) {
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

vector<Example> examples_of(const fs::path& page) {
  static const std::regex kCommand(R"(\$ (?:swa|tools/run\.sh) ?(.*))");
  vector<Example> examples;
  std::ifstream file(page);
  string line;
  bool inside = false;
  for (int number = 1; std::getline(file, line); ++number) {
    std::smatch match;
    if (line.starts_with("```")) {
      inside = line == "```console";
    } else if (inside && std::regex_match(line, match, kCommand)) {
      string arguments = match[1];
      std::erase(arguments, '\'');  // quotes for a shell, which is not there
      examples.push_back({page.filename().string(), number, arguments, {}});
    } else if (inside && line.starts_with("$ ")) {
      inside = false;  // another program's example
    } else if (inside && !examples.empty()) {
      examples.back().shown.push_back(line);
    }
  }
  return examples;
}

// Rounding errors differ between libraries and processors, and with them the element that has the
// largest. With SWA_DOCS_EXACT set, as on the machine that checks changes, every digit counts. Else
// numbers below 0.1 with an exponent and positions of four stand for any of their kind. Blanks that
// align columns count once.
string canonical(const string& line) {
  static const std::regex kRounding(R"(\d\.\d+e-(0[2-9]|[1-9]\d)|0\.0+e\+00)");
  static const std::regex kPosition(R"(\[\d+, \d+, \d+, \d+\])");
  static const std::regex kBlanks(" +");
  string text = line;
  if (std::getenv("SWA_DOCS_EXACT") == nullptr) {
    text = std::regex_replace(text, kRounding, "<rounding>");
    text = std::regex_replace(text, kPosition, "<position>");
  }
  return std::regex_replace(text, kBlanks, " ");
}

bool agree(const vector<string>& shown, std::size_t i, const vector<string>& printed,
           std::size_t j) {
  if (i == shown.size()) return j == printed.size();
  if (shown[i] == "...") {
    for (; j <= printed.size(); ++j) {
      if (agree(shown, i + 1, printed, j)) return true;
    }
    return false;
  }
  return j < printed.size() && canonical(shown[i]) == canonical(printed[j]) &&
         agree(shown, i + 1, printed, j + 1);
}

// The plug-ins of an example lie in the folder that it is typed in.
const string kHere = "plugin:./", kPlugins = "plugin:" SWA_PLUGINS "/";

string replaced(string text, const string& before, const string& after) {
  for (std::size_t at = 0; (at = text.find(before, at)) != string::npos; at += after.size()) {
    text.replace(at, before.size(), after);
  }
  return text;
}

vector<string> without_empty_end(vector<string> lines) {
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

}  // namespace

TEST_CASE("every example of README and docs prints what is shown") {
  int count = 0;
  for (const fs::path& page : pages()) {
    for (const Example& example : examples_of(page)) {
      ++count;
      CAPTURE(example.page);
      CAPTURE(example.line);
      CAPTURE(example.arguments);
      const swa::test::Finished run = swa::test::run_swa(
          replaced(example.arguments, kHere, kPlugins), {.folder = SWA_SOURCE_DIR});
      const vector<string> printed =
          without_empty_end(swa::test::lines(replaced(run.out, kPlugins, kHere)));
      INFO("printed: ", run.out, run.err);
      CHECK(agree(without_empty_end(example.shown), 0, printed, 0));
    }
  }
  CHECK(count > 20);
}

TEST_CASE("the table of words in docs is that of the code") {
  std::ifstream file(fs::path(SWA_SOURCE_DIR) / "docs" / "conventions.md");
  vector<string> rows;
  for (string line; std::getline(file, line);) {
    if (line.starts_with("| ") && line.find("| `--") != string::npos) rows.push_back(line);
  }
  for (const swa::Word& word : swa::kWords) {
    const string option = "| `" + string(word.option) + "`";
    const auto states = [&](const string& row) {
      return row.find(option) != string::npos && row.ends_with("| " + string(word.meaning) + " |");
    };
    CAPTURE(option);
    CHECK(std::count_if(rows.begin(), rows.end(), states) == 1);
  }
}

TEST_CASE("pages name no file that is not there") {
  static const std::regex kLink(R"(\]\(([^)#:]+)(#[^)]*)?\))");
  for (const fs::path& page : pages()) {
    std::ifstream file(page);
    const string text((std::istreambuf_iterator<char>(file)), {});
    for (std::sregex_iterator link(text.begin(), text.end(), kLink), end; link != end; ++link) {
      CAPTURE(page.string());
      CAPTURE((*link)[1].str());
      CHECK(fs::exists(page.parent_path() / (*link)[1].str()));
    }
  }
}
