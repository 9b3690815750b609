#include "commands/case_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <system_error>

#include "cli/data.hpp"
#include "cli/suggest.hpp"
#include "cli/values.hpp"
#include "commands/problem_record.hpp"
#include "error.hpp"
#include "problem/cases.hpp"
#include "problem/random_problems.hpp"
#include "verify/kernel.hpp"

namespace swa::commands {
namespace {

// Those of data/cases.
std::vector<std::string> suite_words() {
  return {"band", "cache", "chapter", "full", "gpu", "peers", "perf", "section6"};
}

// Those that match one of the patterns, in the order of the cases. A name that holds a comma can be
// given whole.
std::vector<Case> matching(const cli::Option& match, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    if (c.name == match.text) return {c};
  }
  const std::vector<std::string> patterns = cli::split(match.name, match.text);
  const auto any_of = [](const auto& all, auto holds) {
    return std::any_of(all.begin(), all.end(), holds);
  };
  for (const std::string& pattern : patterns) {
    if (any_of(cases, [&](const Case& c) { return matches(pattern, c.name); })) continue;
    std::vector<std::string> names;
    for (const Case& c : cases) names.push_back(c.name);
    throw UsageError(fmt::format("{} '{}' names no case", match.name, pattern),
                     cli::did_you_mean(pattern, names, "--list prints the names"));
  }
  std::vector<Case> chosen;
  for (const Case& c : cases) {
    if (any_of(patterns, [&](const std::string& p) { return matches(p, c.name); })) {
      chosen.push_back(c);
    }
  }
  return chosen;
}

}  // namespace

CaseOptions::CaseOptions(cli::Command& command, std::string usual_suite, bool with_random)
    : problem_(command),
      usual_suite_(std::move(usual_suite)),
      suite_(command.add_other(
          "--suite", "",
          usual_suite_.empty()
              ? "a named list of problems instead, such as perf"
              : fmt::format("a named list of problems instead: {} (the default with no problem) "
                            "or full",
                            usual_suite_))),
      file_(command.add_other("--cases", "", "the problems of a case file instead")),
      random_(with_random
                  ? &command.add_other("--random", "",
                                       "so many random problems instead, small ones with the edges "
                                       "favoured; --seed draws the same again")
                  : nullptr),
      match_(command.add_other("--match", "",
                               "of a suite or file, the cases with these names; "
                               "* and ? are wildcards")),
      list_(command.add_flag("--list", "print the cases and run none")) {}

std::vector<Case> CaseOptions::read() const {
  std::vector<Case> cases = read_source();
  return match_.given() ? matching(match_, cases) : cases;
}

std::vector<Case> CaseOptions::read_folder(const std::string& case_file) const {
  for (const cli::Option* option : {&suite_, &file_, random_}) {
    if (option == nullptr || !option->given()) continue;
    throw UsageError(fmt::format("the folder brings its own cases, so {} has no say", option->name),
                     fmt::format("leave {} out; --match picks some of the cases", option->name));
  }
  if (problem_.given()) {
    throw UsageError("the folder brings its own cases, and a problem is stated",
                     "leave the options out that state it; --match picks some of the cases");
  }
  const std::vector<Case> cases = read_cases(case_file);
  return match_.given() ? matching(match_, cases) : cases;
}

std::optional<DrawnCases> CaseOptions::draw() const {
  if (!gives_random()) return std::nullopt;
  for (const cli::Option* option : {&suite_, &file_, &match_}) {
    if (!option->given()) continue;
    throw UsageError(fmt::format("--random draws its own problems, so {} has no say", option->name),
                     fmt::format("leave --random out, or {}", option->name));
  }
  if (problem_.says_what()) {
    throw UsageError("--random draws its own problems, and one is stated",
                     "leave the options out that state it; --seed alone may stand beside --random");
  }
  constexpr Index kMost = 100'000;  // as of a sweep
  const Index count = cli::parse_count(random_->name, random_->text, {1, kMost});
  DrawnCases drawn;
  drawn.seed = problem_.seed.given() ? cli::parse_seed(problem_.seed.name, problem_.seed.text)
                                     : std::random_device()();
  RandomProblems problems(drawn.seed);
  for (Index i = 0; i < count; ++i) drawn.cases.push_back({"", problems.next()});
  return drawn;
}

std::vector<Case> CaseOptions::read_source() const {
  if (const auto drawn = draw()) return drawn->cases;
  if (suite_.given() && file_.given()) {
    throw UsageError("--suite and --cases both bring their own problems", "give one of them");
  }
  for (const cli::Option* option : {&suite_, &file_}) {
    if (!option->given() || !problem_.given()) continue;
    throw UsageError(
        fmt::format("{} brings its own problems", option->name),
        fmt::format("leave {} out, or the options that state a problem", option->name));
  }
  if (file_.given()) return read_file();
  if (!problem_.given() && (suite_.given() || !usual_suite_.empty())) {
    const std::string suite =
        suite_.given() ? cli::parse_choice(suite_.name, suite_.text, suite_words()) : usual_suite_;
    return read_cases(cli::data_path("cases/" + suite + ".toml"));
  }
  if (match_.given()) {
    throw UsageError(
        fmt::format("--match {} picks cases by name, and stated problems have none", match_.text),
        "leave --match out, or give --suite or --cases");
  }
  return problem_.read();
}

std::vector<Case> CaseOptions::read_file() const {
  if (file_.text.empty()) throw UsageError("--cases has no value", "give the path of a case file");
  std::error_code trouble;
  if (!std::filesystem::exists(file_.text, trouble)) {
    throw UsageError(fmt::format("--cases {} is not there", file_.text),
                     "give the path of a case file, as data/cases/full.toml is one");
  }
  return read_cases(file_.text);
}

cli::Outcome list_cases(const std::vector<Case>& cases, const std::string& schema) {
  report::Table table;
  for (const Case& c : cases) {
    report::Record record;
    add_case(record, c);
    record.add({"options", "options"}, options(c.problem)).add({"note", "note"}, c.note);
    hide_problem(record, c.problem);
    append(table, record);
  }
  cli::Outcome outcome;
  outcome.report.schema = schema;
  outcome.report.summary = {{"cases", static_cast<Index>(cases.size())}};
  outcome.report.blocks = {table};
  return outcome;
}

}  // namespace swa::commands
