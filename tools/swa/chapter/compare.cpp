#include "chapter/compare.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>

#include "error.hpp"

namespace swa::chapter {
namespace {

// Whether a printed error is a number within the bound; NaN and words are not.
bool within(const std::string& printed, double bound) {
  double value = 0;
  const char* const end = printed.data() + printed.size();
  const auto [rest, trouble] = std::from_chars(printed.data(), end, value);
  return trouble == std::errc{} && rest == end && value >= 0 && value <= bound;
}

std::string judge(const Figure& figure, const std::string& chapter) {
  switch (figure.kind) {
    case Class::exact:
    case Class::measured:
      return figure.ours == chapter ? "ok" : "differs";
    case Class::bounded:
      return within(figure.ours, figure.bound) && within(chapter, figure.bound) ? "ok"
                                                                                : "beyond bound";
    case Class::other_kernel:
      return "other kernel";
    case Class::waiting:
      return "waiting";
  }
  return {};
}

}  // namespace

Printed read_printed(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw UsageError(fmt::format("{} cannot be read", path));
  Printed printed;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    const std::size_t first = line.find('\t'), second = line.find('\t', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      throw UsageError(
          fmt::format("{}:{}: not a table, a row and a figure between tabs", path, number));
    }
    const auto key = std::pair(line.substr(0, first), line.substr(first + 1, second - first - 1));
    if (!printed.emplace(key, line.substr(second + 1)).second) {
      throw UsageError(fmt::format("{}:{}: the row '{}' of '{}' stands twice", path, number,
                                   key.second, key.first));
    }
  }
  if (file.bad() || printed.empty()) {
    throw UsageError(fmt::format("{} holds no figures", path));
  }
  return printed;
}

std::vector<Verdict> compare(const std::vector<Figure>& figures, const Printed& printed) {
  std::vector<Verdict> verdicts;
  Printed unmatched = printed;
  for (const Figure& figure : figures) {
    const auto found = printed.find({figure.table, figure.row});
    if (found == printed.end()) {
      verdicts.push_back({figure, "", "not in the file", true});
      continue;
    }
    unmatched.erase({figure.table, figure.row});
    const std::string verdict = judge(figure, found->second);
    const bool wrong = verdict != "ok" && verdict != "other kernel" && verdict != "waiting";
    verdicts.push_back({figure, found->second, verdict, wrong});
  }
  for (const auto& [key, value] : unmatched) {
    verdicts.push_back({{key.first, key.second, Class::exact, "", 0}, value, "not computed", true});
  }
  return verdicts;
}

}  // namespace swa::chapter
